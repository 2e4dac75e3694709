import threading

from shop import app, put_schedules, send_email, start_report


def test_the_page_runs_against_a_real_server(atlasqueue_server: str) -> None:
    app.use_url(atlasqueue_server)
    worker = app.worker(concurrency=4)
    working = threading.Thread(target=worker.run)
    working.start()
    try:
        assert send_email.options(delay=1).submit_sync(to="ada@example.org").result(30) == "sent to ada@example.org"
        assert start_report(["north", "south", "east"]).result(30) == 14
    finally:
        worker.stop()
        working.join(30)
    put_schedules()
    put_schedules()
    schedule = app.sync_client.schedules.get("weekly-mail")
    assert (schedule.cron, schedule.job["payload"]) == ("0 8 * * 1", {"to": "team@example.org"})
    job = app.sync_client.schedules.run("weekly-mail")
    assert app.sync_client.cancel(job.id).status == "cancelled"
