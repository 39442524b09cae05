// Highlights one engine in all plots, and opens the collapsed sections around the target of a link.
(function () {
  "use strict";
  var buttons = document.querySelectorAll("button.engine");
  function bringForward(engine) {
    document.body.classList.toggle("focused", engine !== "");
    buttons.forEach(function (button) {
      button.setAttribute("aria-pressed", String(button.dataset.engine === engine));
    });
    document.querySelectorAll("svg .forward").forEach(function (mark) { mark.classList.remove("forward"); });
    if (engine !== "") {
      document.querySelectorAll("svg ." + engine).forEach(function (mark) { mark.classList.add("forward"); });
    }
  }
  buttons.forEach(function (button) {
    button.addEventListener("click", function () {
      bringForward(button.getAttribute("aria-pressed") === "true" ? "" : button.dataset.engine);
    });
  });
  function openTarget() {
    var target = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
    for (var element = target; element; element = element.parentElement) {
      if (element.tagName === "DETAILS") element.open = true;
    }
    if (target) target.scrollIntoView();
  }
  window.addEventListener("hashchange", openTarget);
  openTarget();
})();
