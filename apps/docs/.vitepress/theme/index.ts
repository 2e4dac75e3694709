import theme from "vitepress/theme-without-fonts";
import { h } from "vue";
import "./style.css";

// The API's own page is outside the site, where the links of VitePress's configuration do not lead.
const toApi = () => h("a", { class: "to-api", href: "/docs" }, "HTTP API");

export default { ...theme, Layout: () => h(theme.Layout, null, { "nav-bar-content-after": toApi }) };
