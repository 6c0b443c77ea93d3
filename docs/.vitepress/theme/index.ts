// Without the web fonts of the default theme: the site uses the fonts of the system.
import theme from "vitepress/theme-without-fonts";
import "./style.css";

export default theme;
