from atlasqueue import App, Backoff, Handle, RetryAfter, sync_context

app = App()


class MailerBusy(Exception):
    pass


def deliver(to: str) -> str:
    if sync_context.job.attempts == 1:
        raise MailerBusy("try again")
    return f"sent to {to}"


@app.job("email.send", queue="mail", timeout=30, max_attempts=5, backoff=Backoff.exponential(5, max_seconds=600))
def send_email(to: str) -> str:
    try:
        return deliver(to)
    except MailerBusy as busy:
        raise RetryAfter(1, str(busy)) from busy


@app.job("rows.count", queue="reports")
def count_rows(region: str) -> int:
    return len(region)


@app.job("rows.sum", queue="reports")
def sum_rows() -> int:
    return sum(parent["result"] for parent in sync_context.parents().values())


def start_report(regions: list[str]) -> Handle[int]:
    """A chord: one job for each region, then one for their sum."""
    flow = app.sync_client.flow()
    counted = [flow.add(count_rows.submission(region), ref=region) for region in regions]
    flow.add(sum_rows.submission(), depends_on=counted)
    return flow.submit().handles[-1]


def put_schedules() -> None:
    """The entries of beat. Safe to repeat, so run it at each deployment."""
    app.sync_client.schedules.put(
        "weekly-mail", cron="0 8 * * 1", timezone="Europe/Berlin", job=send_email.submission(to="team@example.org")
    )
