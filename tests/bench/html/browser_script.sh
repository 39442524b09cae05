#!/usr/bin/env bash
# Opens a report in a real browser, in dark and in light mode. There must be no error on the console, every plot must
# have data, and on a phone nothing may stick out to the side.
#
# browser_script.sh MAKER [REPORT.html]     MAKER: the program report_maker; REPORT.html: a report that exists already
#
# Screenshots and console output are those of the page itself. All other checks use a copy with an additional script,
# which writes its findings into attributes of <html>, where --dump-dom shows them.
set -eu
maker=$1
work=$(mktemp -d "${TMPDIR:-/tmp}/html_browser-XXXXXX")
trap 'rm -rf "$work"' EXIT

browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
if [ -z "$browser" ]; then
  echo "SKIPPED: there is no Chromium here (Debian's package is chromium)"
  exit 0
fi

fail() { echo "html_browser: $*" >&2; exit 1; }

# browse WIDTH,HEIGHT ARGUMENTS...: stdout goes to $work/out, the console (stderr) to $work/log. Scripts of the page get
# five seconds of the browser's virtual time, however long these take in real time.
browse() {
  local size=$1; shift
  timeout 150 "$browser" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run --disable-extensions \
    --user-data-dir="$work/profile" --hide-scrollbars --window-size="$size" --virtual-time-budget=5000 \
    --enable-logging=stderr --v=0 "$@" >"$work/out" 2>"$work/log"
}

if ! browse 400,400 --dump-dom 'data:text/html,<p>up</p>' || ! grep -q 'up' "$work/out"; then
  echo "SKIPPED: Chromium does not start here: $(grep -v dbus "$work/log" | tail -n 1)"
  exit 0
fi

page=${2:-}
if [ -z "$page" ]; then
  "$maker" "$work/made" >/dev/null
  page=$work/made/report/report.html
fi
plots=$(grep -c '<figure class="card plot' "$page")
[ "$plots" -gt 0 ] || fail "the page has no plot"

cat >"$work/look.js" <<'JS'
window.addEventListener("load", function () {
  var root = document.documentElement, data = root.dataset;
  document.querySelectorAll("details").forEach(function (d) { d.open = true; });
  var figures = Array.from(document.querySelectorAll("figure.plot"));
  var seen = function (svg) { return svg.getBoundingClientRect().width > 0; };
  data.figures = figures.length;
  data.empty = figures.filter(function (f) {
    return Array.from(f.querySelectorAll("svg")).some(function (svg) { return !svg.querySelector(".mark"); });
  }).length;
  data.hidden = figures.filter(function (f) {
    return Array.from(f.querySelectorAll("svg")).filter(seen).length !== 1;
  }).length;
  data.cut = figures.reduce(function (n, f) {
    return n + Array.from(f.querySelectorAll("svg")).filter(seen).reduce(function (m, svg) {
      var box = svg.getBoundingClientRect();
      return m + Array.from(svg.querySelectorAll("text")).filter(function (t) {
        var b = t.getBoundingClientRect();
        return b.left < box.left - 1 || b.right > box.right + 1 || b.top < box.top - 1 || b.bottom > box.bottom + 1;
      }).length;
    }, 0);
  }, 0);
  data.sections = Array.from(document.querySelectorAll("section")).map(function (s) { return s.id; }).join(" ");
  data.width = window.innerWidth;
  data.overflow = root.scrollWidth - window.innerWidth;
  data.back = getComputedStyle(document.body).backgroundColor;
  var button = document.querySelector("button.engine");
  button.click();
  data.forward = document.querySelectorAll("svg .forward").length;
  button.click();
  data.after = document.querySelectorAll("svg .forward").length;
  data.errors = window.pageErrors;
});
JS
{
  echo '<script>window.pageErrors = 0; window.onerror = function () { window.pageErrors++; };</script>'
  cat "$page"
  printf '<script>\n%s\n</script>\n' "$(cat "$work/look.js")"
} >"$work/look.html"
sed -i '1{h;d};2{/DOCTYPE/{G;};}' "$work/look.html"  # the doctype comes first

attribute() { sed -n "s/.*<html[^>]* data-$1=\"\([^\"]*\)\".*/\1/p" "$work/out" | head -n 1; }
expect() { [ "$(attribute "$1")" = "$2" ] || fail "$3: $1 is '$(attribute "$1")', not '$2'"; }

# look NAME WIDTH,HEIGHT ARGUMENTS...: opens the copy with the script, and checks its findings.
look() {
  local name=$1; shift
  browse "$@" --dump-dom "file://$work/look.html" || fail "$name: the browser failed: $(tail -n 1 "$work/log")"
  expect figures "$plots" "$name"
  expect empty 0 "$name: plots without data"
  expect hidden 0 "$name: plots that are not shown once"
  expect cut 0 "$name: words that stick out of their plot"
  expect errors 0 "$name: errors of scripts"
  expect overflow 0 "$name: sticks out to the side"
  for section in results-1 machine commands settings; do
    case " $(attribute sections) " in *" $section "*) ;; *) fail "$name: no section $section" ;; esac
  done
  [ "$(attribute forward)" -gt 0 ] || fail "$name: a click on an engine brings nothing forward"
  expect after 0 "$name: a second click leaves it in front"
}

dark='--blink-settings=preferredColorScheme=0'
light='--blink-settings=preferredColorScheme=1'
look "wide, light" 1280,900 "$light"
back_light=$(attribute back)
look "wide, dark" 1280,900 "$dark"
[ "$back_light" != "$(attribute back)" ] || fail "dark is as light: $back_light"
# On some systems headless windows have a minimum width, so this window may be wider than 390 pixels.
look "phone" 390,844 "$light"
[ "$(attribute width)" -le 560 ] || fail "phone: $(attribute width) pixels are no phone's width"

# The page itself: nothing on the console, and screenshots that are not blank. A blank PNG has only a few KB.
for scheme in "$light" "$dark"; do
  browse 1280,2400 "$scheme" --screenshot="$work/shot.png" "file://$page"
  if grep 'CONSOLE' "$work/log"; then fail "the console has something to say"; fi
  size=$(stat -c %s "$work/shot.png")
  [ "$size" -gt 60000 ] || fail "a picture of $size bytes shows nothing"
done
browse 400,400 --screenshot="$work/shot.png" 'data:text/html,<p></p>'
[ "$(stat -c %s "$work/shot.png")" -lt 60000 ] || fail "a blank picture is as large: the check above checks nothing"

# Each drawing is a file that opens by itself.
count=0
for svg in "$(dirname "$page")"/plots/*.svg; do
  count=$((count + 1))
  [ "$count" -gt 3 ] && continue  # unit tests check the contents; three files are enough to check the frame
  browse 1200,800 --screenshot="$work/shot.png" "file://$svg"
  if grep 'CONSOLE\|error on line' "$work/log"; then fail "$svg"; fi
  [ "$(stat -c %s "$work/shot.png")" -gt 8000 ] || fail "$svg shows nothing"
done
[ "$count" -eq "$plots" ] || fail "$plots plots, but $count files"
echo "html_browser: $plots plots are drawn, wide and narrow, light and dark."
