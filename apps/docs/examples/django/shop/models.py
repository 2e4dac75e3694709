from django.db import models


class Order(models.Model):
    id = models.AutoField(primary_key=True)
    email = models.EmailField()
    receipt_sent = models.BooleanField(default=False)
