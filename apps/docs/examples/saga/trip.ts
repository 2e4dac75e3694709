import { defineHandler, defineJob, DoNotRetryError, type Client, type Handler } from "@atlasqueue/client";
import { z } from "zod";

const bookFlight = defineJob("flight.book", z.object({ to: z.string() }));
const bookHotel = defineJob("hotel.book", z.object({ to: z.string() }));
const settleTrip = defineJob("trip.settle", z.object({}), z.object({ booked: z.boolean() }));

/** The last job runs however the two bookings end, and cancels the booking if one of them failed. */
export async function bookTrip(client: Client, to: string): Promise<{ booked: boolean }> {
  const trip = client.flow();
  const flight = trip.add(bookFlight, { to });
  const hotel = trip.add(bookHotel, { to }, { depends_on: [flight] });
  const end = trip.add(settleTrip, {}, { depends_on: [flight, hotel], on_parent_failure: "run" });
  return (await trip.submit()).handle(end).result();
}

type Travel = { book(what: string): Promise<string | undefined>; cancel(booking: unknown): Promise<void> };

export function tripHandlers(travel: Travel): Handler[] {
  const book = async (what: string) => {
    const booking = await travel.book(what);
    if (booking === undefined) throw new DoNotRetryError(`there is no ${what}`);
    return booking;
  };
  return [
    defineHandler(bookFlight, ({ to }) => book(`flight to ${to}`)),
    defineHandler(bookHotel, ({ to }) => book(`hotel in ${to}`)),
    defineHandler(settleTrip, async (_payload, { parents }) => {
      const all = Object.values(await parents());
      const done = all.filter(({ status }) => status === "succeeded");
      if (done.length === all.length) return { booked: true };
      for (const { result } of done) await travel.cancel(result); // must be safe to repeat
      return { booked: false };
    }),
  ];
}
