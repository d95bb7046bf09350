// Where the reader is: the entry of this page in the sidebar is seen; beside code in two columns the
// sidebar is closed where it would take their room, and its button opens it.
"use strict";
addEventListener("load", () => {
  const here = document.querySelectorAll("#pst-primary-sidebar .current > a.reference");
  const { top, bottom } = here[here.length - 1]?.getBoundingClientRect() ?? { bottom: 0 };
  // not by scrollIntoView, from where Tab would go on
  if (bottom > innerHeight) document.getElementById("pst-primary-sidebar").scrollTop += top - innerHeight / 2;
});
if (document.querySelector(".annotated") && matchMedia("(min-width: 992px) and (max-width: 1750px)").matches)
  document.getElementById("pst-primary-sidebar")?.classList.add("pst-sidebar-hidden");
