import { withBase } from "vitepress";
import theme from "vitepress/theme-without-fonts";
import { h } from "vue";
import "./style.css";

// The API's own page is outside the site, so the link has a target: VitePress would look for a page of the site.
const toApi = () => h("a", { class: "to-api", href: withBase("/../docs"), target: "_self" }, "HTTP API");

export default { ...theme, Layout: () => h(theme.Layout, null, { "nav-bar-content-after": toApi }) };
