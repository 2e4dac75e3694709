from django.core.management.base import BaseCommand

from shop.jobs import queue


class Command(BaseCommand):
    help = "Runs the jobs until SIGTERM"

    def handle(self, *args: object, **options: object) -> None:
        queue.worker(concurrency=10).run()
