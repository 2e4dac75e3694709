import os
from urllib.parse import unquote, urlsplit

database = urlsplit(os.environ["DATABASE_URL"])
ROOT_URLCONF = "urls"
SECRET_KEY = "of the tests"
INSTALLED_APPS = ["shop"]
USE_TZ = True
DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.postgresql",
        "HOST": database.hostname,
        "PORT": database.port,
        "NAME": database.path[1:],
        "USER": unquote(database.username or ""),
        "PASSWORD": unquote(database.password or ""),
    }
}
