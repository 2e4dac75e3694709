import { Body, Controller, HttpCode, Module, Post } from "@nestjs/common";
import { Database } from "./database.js";
import { Orders } from "./orders.js";

@Controller("orders")
export class OrdersController {
  constructor(private readonly orders: Orders) {}

  @Post()
  @HttpCode(202)
  place(@Body("email") email: string) {
    return this.orders.place(email);
  }
}

@Module({ providers: [Database, Orders], controllers: [OrdersController] })
export class OrdersModule {}
