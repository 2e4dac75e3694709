/** Drawn on a grid of 16, with lines of 1.5. */
const shapes = {
  overview: "M2.5 13.5V9M6.2 13.5V5M9.8 13.5V7.5M13.5 13.5V2.5",
  queues: "M2.5 4h11M2.5 8h11M2.5 12h7",
  jobs: "M3 3.5h10v9H3zM5.5 6.5h5M5.5 9.5h3",
  flows: "M2.5 2.5h4v3h-4zM2.5 10.5h4v3h-4zM10.5 6.5h3v3h-3zM6.5 4h2v8h-2M8.5 8h2",
  dead: "M8 2.5 14 13H2zM8 6.5v3M8 11.2v.1",
  schedules: "M8 2.5a5.5 5.5 0 1 1 0 11 5.5 5.5 0 0 1 0-11zM8 5v3.2l2.2 1.4",
  workers: "M3 3h10v4H3zM3 9h10v4H3zM5.2 5h.1M5.2 11h.1",
  activity: "M2 8.5h3l2-5 2.5 9 1.8-4H14",
  settings: "M2.5 5h6M11.5 5h2M2.5 11h2M7.5 11h6M10 3.3v3.4M6 9.3v3.4",
  search: "M7 2.5a4.5 4.5 0 1 1 0 9 4.5 4.5 0 0 1 0-9zM10.3 10.3 13.5 13.5",
  pause: "M5.5 3.5v9M10.5 3.5v9",
  play: "M5 3.2 12 8l-7 4.8z",
  close: "m4 4 8 8M12 4l-8 8",
  menu: "M2.5 4.5h11M2.5 8h11M2.5 11.5h11",
  copy: "M5.5 5.5h7v7h-7zM3.5 10.5v-7h7",
  plus: "M8 3v10M3 8h10",
  replay: "M3 8a5 5 0 1 1 1.5 3.6M3 12.5V9.2h3.3",
  trash: "M3 4.5h10M6 4.5V3h4v1.5M4.5 4.5l.6 8.5h5.8l.6-8.5M6.8 7v3.5M9.2 7v3.5",
  edit: "M3 13h2.5L13 5.5 10.5 3 3 10.5z",
  check: "m3 8.5 3.2 3.2L13 4.8",
  warning: "M8 2.5 14 13H2zM8 6.5v3M8 11.2v.1",
  sun: "M8 5.2a2.8 2.8 0 1 1 0 5.6 2.8 2.8 0 0 1 0-5.6zM8 1.5v1M8 13.5v1M1.5 8h1M13.5 8h1M3.4 3.4l.7.7M11.9 11.9l.7.7M12.6 3.4l-.7.7M4.1 11.9l-.7.7",
  moon: "M13 9.5A5.5 5.5 0 0 1 6.5 3a5.5 5.5 0 1 0 6.5 6.5z",
  system: "M2.5 3h11v8h-11zM6 13.5h4",
  arrow: "M3 8h10M9 4l4 4-4 4",
  key: "M5.5 7.5a3 3 0 1 1 0 1M8.3 8h5.2v2M11.3 8v1.6",
} as const;
export type IconName = keyof typeof shapes;

export function Icon({ name }: { name: IconName }) {
  return (
    <svg className="icon" viewBox="0 0 16 16" aria-hidden="true">
      <path d={shapes[name]} />
    </svg>
  );
}
