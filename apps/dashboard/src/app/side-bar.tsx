import { Link } from "@tanstack/react-router";
import { Icon } from "../components/icon.tsx";
import { places } from "./nav.ts";

/** The way around. On a narrow screen it is a row that scrolls. */
export function SideBar() {
  return (
    <nav className="side" aria-label="Pages">
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
