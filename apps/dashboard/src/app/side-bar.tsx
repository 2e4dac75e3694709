import { useEffect, useRef } from "react";
import { Link, useLocation } from "@tanstack/react-router";
import { Icon } from "../components/icon.tsx";
import { places } from "./nav.ts";

/** The way around. On a narrow screen it is a row that scrolls. */
export function SideBar() {
  const { pathname } = useLocation();
  const row = useRef<HTMLElement>(null);
  useEffect(() => {
    const here = row.current?.querySelector("li [aria-current=page]");
    here?.scrollIntoView({ block: "nearest", inline: "center" });
  }, [pathname]);
  return (
    <nav className="side" aria-label="Pages" ref={row}>
      <Link to="/" className="brand">
        <span className="brand-mark" aria-hidden="true" />
        AtlasQueue
      </Link>
      <ul>
        {places.map(({ to, name, icon, key }) => (
          <li key={to}>
            <Link to={to} activeOptions={{ exact: to === "/", includeSearch: false }} title={`g ${key}`}>
              <Icon name={icon} />
              {name}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}
