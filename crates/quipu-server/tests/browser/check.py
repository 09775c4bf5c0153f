"""Tests the inspector in headless Chromium with Selenium and axe-core.

    python check.py QUIPU AXE_MIN_JS [SCREENSHOTS]

Starts `quipu serve` on an empty folder, loads the demo data with the button, and acts as a person would: views every page in
the light, dark and narrow layouts, decides by key, edits, undoes, searches, asks, ticks several and erases. Users' text must stay escaped. The
size of every page is asserted; times are only printed.
"""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

PATIENCE = 60
PAGE_BYTES_MAX = 150_000

CORPUS = [
    "<script>window.hit=1</script>",
    "<img src=x onerror=window.hit=1>",
    "<svg/onload=window.hit=1>",
    "\"><script>window.hit=1</script>",
    "' autofocus onfocus=window.hit=1 x='",
    "</title></textarea></script><script>window.hit=1</script>",
    "<a href=javascript:window.hit=1>press</a>",
]

PAGES = [
    "", "/memories", "/memories?state=any", "/memories?kind=episodes", "/memories?kind=said", "/memories?at=20", "/core",
    "/core?path=/location/current", "/core?from=1", "/topics", "/tasks?all=1", "/sessions", "/timeline", "/timeline?by=recorded",
    "/timeline?remarks=1", "/memories?find=sleep&sort=newest", "/memories?kind=tenets", "/ask", "/ask?q=Where+does+Ines+live%3F", "/review",
    "/review?decided=1", "/conflicts", "/search", "/search?q=Where+does+Ines+live%3F", "/pack?q=Where+does+Ines+live%3F",
    "/upkeep", "/privacy",
]
SERVER = ["/", "/ui/server/metrics", "/ui/server/calibration", "/ui/server/doctor?run=1", "/ui/server/keys", "/ui/sign-in"]


class Check:
    def __init__(self, base, axe, shots):
        options = webdriver.ChromeOptions()
        for flag in ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--window-size=1280,900"]:
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.base, self.shots, self.done, self.figures = base, shots, 0, []
        self.axe = pathlib.Path(axe).read_text()
        # The binaries of this machine: nothing is downloaded.
        options.binary_location = shutil.which("chromium")
        self.browser = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
        self.browser.set_page_load_timeout(PATIENCE)

    def expect(self, what, condition, shown=""):
        if not condition:
            self.browser.save_screenshot(os.path.join(tempfile.gettempdir(), "quipu-inspector-failed.png"))
            raise SystemExit(f"FAILED: {what}: {shown}")
        self.done += 1

    def go(self, path):
        self.browser.get(self.base + path)

    def one(self, selector):
        return self.browser.find_element(By.CSS_SELECTOR, selector)

    def all(self, selector):
        return self.browser.find_elements(By.CSS_SELECTOR, selector)

    def press(self, *keys):
        ActionChains(self.browser).send_keys(*keys).perform()

    def submits(self, act):
        """Performs an action that leads to another page, and waits until it has loaded."""
        before = self.one("html")
        act()
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            try:
                before.is_enabled()
            except Exception:
                break
            time.sleep(0.02)
        while self.browser.execute_script("return document.readyState") != "complete" and time.monotonic() < end:
            time.sleep(0.02)

    def text(self):
        return self.one("main").text

    def sound(self, what):
        """Checks that there are no console errors, no injected scripts and no axe violations."""
        errors = [line for line in self.browser.get_log("browser") if line["level"] in ("SEVERE", "WARNING")]
        self.expect(f"{what}: the console", not errors, errors)
        self.expect(f"{what}: nothing written ran", self.browser.execute_script("return window.hit") is None)
        self.browser.execute_script(self.axe)
        found = self.browser.execute_async_script(
            "const done = arguments[arguments.length - 1];"
            "axe.run(document, {resultTypes: ['violations'], rules: {'target-size': {enabled: true}}}).then((r) => done(r.violations.map((v) => "
            "({id: v.id, help: v.help, nodes: v.nodes.slice(0, 3).map((n) => [n.html, n.failureSummary])}))))"
        )
        self.expect(f"{what}: accessible", not found, json.dumps(found, indent=1))

    def measured(self, what):
        bytes_, paint = self.browser.execute_script(
            "const of = performance.getEntriesByType('resource').concat(performance.getEntriesByType('navigation'));"
            "const paint = performance.getEntriesByName('first-contentful-paint')[0];"
            "return [of.reduce((sum, e) => sum + (e.decodedBodySize || 0), 0), paint ? paint.startTime : 0]"
        )
        self.expect(f"{what}: at most {PAGE_BYTES_MAX} bytes", 0 < bytes_ <= PAGE_BYTES_MAX, bytes_)
        self.figures.append((what, bytes_, paint))

    def shot(self, name):
        if self.shots:
            self.browser.save_screenshot(os.path.join(self.shots, f"{name}.png"))


def send(base, path, body):
    request = urllib.request.Request(base + path, json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
        return json.load(answer)


def load_demo(check):
    check.go("/")
    check.expect("an empty server offers demo data", "Nothing is remembered yet" in check.text(), check.text())
    check.sound("the empty home")
    check.submits(lambda: check.one("form[action='/ui/demo'] button").click())
    check.expect("the demo is there", check.browser.current_url.endswith("/ui/u/demo"), check.browser.current_url)


def every_page(check):
    names = ["/ui/u/demo" + page for page in PAGES] + SERVER
    check.go("/ui/u/demo/memories")
    names.append(check.one(".list .what").get_attribute("href").removeprefix(check.base))
    names += ["/ui/u/demo/events/20", "/ui/u/demo/revert?events=20&probe=Where+does+Ines+live%3F"]
    check.go("/ui/u/demo/sessions")
    names.append(check.one(".list .what").get_attribute("href").removeprefix(check.base))
    wide = ("wide", 1280, 900)
    narrow = ("narrow", 390, 844)
    for theme, looks in [("light", [wide, narrow]), ("dark", [wide, narrow])]:
        for look, width, height in looks:
            check.browser.set_window_size(width, height)
            check.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": theme}]})
            check.browser.execute_cdp_cmd(
                "Emulation.setDeviceMetricsOverride", {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
            )
            for name in names:
                check.go(name)
                what = f"{name} ({theme}, {look})"
                check.sound(what)
                check.measured(what)
                over = check.browser.execute_script("return document.documentElement.scrollWidth - document.documentElement.clientWidth")
                check.expect(f"{what}: nothing sticks out", over <= 0, over)
                small = check.browser.execute_script(
                    "return [...document.querySelectorAll('svg.plot text')].filter((one) => one.getClientRects().length)"
                    ".filter((one) => one.getBoundingClientRect().height < 10).map((one) => one.textContent)"
                )
                check.expect(f"{what}: the text of plots is legible", not small, small)
                plain = "".join(letter if letter.isalnum() else "-" for letter in name)[:60].strip("-") or "home"
                check.shot(f"{theme}-{look}-{plain}")
    check.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    check.browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    check.browser.set_window_size(1280, 900)


def theme(check):
    ground = "return getComputedStyle(document.body).backgroundColor"
    check.go("/ui/u/demo")
    before = check.browser.execute_script(ground)
    for _ in range(3):
        check.submits(lambda: check.one("form[action='/ui/theme'] button").click())
        check.expect("the switch leads back", check.browser.current_url.endswith("/ui/u/demo"), check.browser.current_url)
        if check.one("html").get_attribute("data-theme") == "dark":
            check.expect("dark is dark", check.browser.execute_script(ground) != before)
            check.sound("dark by the switch")
    check.expect("and back", check.browser.execute_script(ground) == before)


def keys(check):
    check.go("/ui/u/demo")
    check.press("?")
    check.expect("? shows the keys", check.one("dialog").is_displayed())
    check.sound("the keys")
    check.press(Keys.ESCAPE)
    check.press("/")
    check.expect("/ is for asking", check.browser.switch_to.active_element.get_attribute("id") == "ask")
    check.submits(lambda: check.press("where does Ines live", Keys.ENTER))
    check.expect("asking is searching", "/ask?q=where+does+Ines+live" in check.browser.current_url, check.browser.current_url)
    check.submits(lambda: check.press("g", "m"))
    check.expect("g m are the memories", check.browser.current_url.endswith("/memories"), check.browser.current_url)
    check.press("j", "j")
    check.expect("j goes down the list", len(check.all("[data-stop].at")) == 1)
    there = check.browser.switch_to.active_element.get_attribute("href")
    check.submits(lambda: check.press(Keys.ENTER))
    check.expect("Enter opens it", check.browser.current_url == there, check.browser.current_url)
    check.go("/ui/u/demo")
    check.browser.switch_to.active_element.send_keys(Keys.TAB)
    check.expect("Tab reaches the skip link first", check.browser.switch_to.active_element.get_attribute("class") == "skip")


def review(check):
    check.go("/ui/u/demo/review")
    at_first = len(check.all(".review"))
    check.expect("three wait", at_first >= 3, check.text())
    asked = check.one(".review.at h2").text
    check.submits(lambda: check.press("a"))
    check.expect("a approves", len(check.all(".review")) == at_first - 1, check.text())
    check.expect("and says so", "records it" in check.one(".done").text)
    check.sound("after a decision")
    check.submits(lambda: check.press("u"))
    check.expect("u undoes", len(check.all(".review")) == at_first and check.one(".review.at h2").text == asked, check.text())
    check.press("j")
    second = check.one(".review.at h2").text
    check.expect("j goes on", second != asked, second)
    check.press("k")
    check.expect("k goes back", check.one(".review.at h2").text == asked)
    check.press("j")
    check.press("e")
    field = check.browser.switch_to.active_element
    check.expect("e edits", field.get_attribute("name") == "text")
    field.clear()
    check.submits(lambda: field.send_keys("Prefers slow trains", Keys.ENTER))
    check.expect("an edit is a decision", len(check.all(".review")) == at_first - 1, check.text())
    check.submits(lambda: check.press("d"))
    check.expect("d declines", len(check.all(".review")) == at_first - 2, check.text())
    check.go("/ui/u/demo/review?decided=1")
    check.expect("what was edited is told", "Prefers slow trains" in check.text(), check.text())


def edit_and_undo(check):
    check.go("/ui/u/demo/search?q=where+does+Ines+live")
    check.expect("the debugger shows bars", check.all(".hit svg.stackbar"))
    check.expect("and a verdict", check.one(".verdict b").text.endswith("%"))
    check.expect("and stages", "Scored in full" in check.one("main").text)
    check.one(".hit details summary").click()
    check.expect("and what a score is made of", "relevance" in check.one(".hit details").text, check.one(".hit details").text)
    check.sound("the debugger, opened")
    check.go("/ui/u/demo/memories")
    check.submits(next(link for link in check.all(".list .what") if "works at Farol" in link.text).click)
    check.expect("evidence leads to the turn", check.all(".said footer a"))
    check.press("e")
    field = check.browser.switch_to.active_element
    check.expect("e edits an item", field.get_attribute("name") == "object")
    field.clear()
    check.submits(lambda: field.send_keys("Braga", Keys.ENTER))
    check.expect("the new value holds", "Braga" in check.one("h1").text, check.text())
    check.submits(lambda: check.one(".done a.button").click())
    check.expect("undo is shown first", "What would change" in check.text(), check.text())
    check.sound("the preview of an undo")
    check.submits(lambda: check.one("form[method='post'] button.main").click())
    check.go("/ui/u/demo/memories")
    check.expect("it is undone", "Braga" not in check.text() and "Farol" in check.text(), check.text())
    said = check.one(".list .what")
    check.submits(said.click)
    check.submits(lambda: check.one("button[name='pinned']").click())
    check.expect("it is pinned", "pinned" in check.text())


def at_once(check):
    for words in ["I like walnuts.", "I like zebras."]:
        send(check.base, "/memory/otto/turns", {"messages": [{"role": "user", "content": words}]})
    check.go("/ui/u/otto/memories?find=likes")
    check.expect("two are found", len(check.all("input[name='item']")) == 2, check.text())
    check.one("input[data-all]").click()
    check.sound("ticked memories")
    check.submits(lambda: check.one("button[value='retract']").click())
    check.expect("both are retracted", "2 memories retracted" in check.text() and not check.all(".list .what"), check.text())
    check.submits(lambda: check.one(".done a.button").click())
    check.submits(lambda: check.one("form[method='post'] button.main").click())
    check.go("/ui/u/otto/memories?find=likes")
    check.expect("and both are back", len(check.all(".list .what")) == 2, check.text())


def session(check):
    check.go("/ui/u/demo/sessions")
    check.submits(check.one(".list .what").click)
    check.press("e")
    check.one("#text").send_keys("Answer in two sentences")
    check.submits(lambda: check.one("button[value='add']").click())
    check.expect("it holds in the session", "Answer in two sentences" in check.text(), check.text())
    check.sound("an edited session")


def live(check):
    check.go("/ui/u/otto")
    check.expect("no zoo yet", "Hanover" not in check.text(), check.text())
    send(check.base, "/memory/otto/turns", {"messages": [{"role": "user", "content": "I live in Hanover."}]})
    shows(check, "#new + ul", "Hanover", "the front page shows what was said, by itself")
    check.go("/ui/u/otto/tasks")
    send(check.base, "/memory/otto/turns", {"messages": [{"role": "user", "content": "I like tea."}]})
    shows(check, "#news", "Show it", "another page offers it")
    check.sound("a page with news")


def shows(check, selector, text, what):
    """Waits until an element that is displayed has a text. One script looks, since the page changes meanwhile."""
    look = (
        "return [...document.querySelectorAll(arguments[0])].filter((one) => one.getClientRects().length)"
        ".some((one) => one.innerText.includes(arguments[1]))"
    )
    end = time.monotonic() + PATIENCE
    while not check.browser.execute_script(look, selector, text) and time.monotonic() < end:
        time.sleep(0.05)
    check.expect(what, check.browser.execute_script(look, selector, text), check.text())


def phone(check, what):
    """The navigation of a narrow page opens, leads on, and is no part of the page until then."""
    check.browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride", {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": False}
    )
    check.go("/ui/u/demo")
    check.expect(f"{what}: the menu is closed", not check.one("#pages").is_displayed())
    check.one("button[popovertarget='pages']").click()
    check.expect(f"{what}: the menu opens", check.one("#pages a[href$='/privacy']").is_displayed())
    check.one("#pages a[href$='/tasks']").click()
    end = time.monotonic() + PATIENCE
    while not check.browser.current_url.endswith("/tasks") and time.monotonic() < end:
        time.sleep(0.02)
    check.expect(f"{what}: it leads on", check.browser.current_url.endswith("/tasks"), check.browser.current_url)
    check.browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def menu(check):
    phone(check, "with a script")
    check.browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride", {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": False}
    )
    check.go("/ui/u/demo")
    check.one("button[popovertarget='pages']").click()
    check.sound("the open menu")
    check.browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def erase(check):
    told = send(check.base, "/memory/demo/turns", {"messages": [{"role": "user", "content": "I love marzipan."}]})
    check.go(f"/ui/u/demo/items/{told['items'][0]}")
    check.submits(lambda: check.one("a.button.danger").click())
    check.expect("what would go is shown", "marzipan" in check.text() and "Derived from it" in check.text(), check.text())
    check.sound("the preview of an erasure")
    check.one("button.danger").click()
    check.expect("it is not done without a word for it", "Erase for good?" in check.text())
    check.one("input[name='sure']").click()
    check.submits(lambda: check.one("button.danger").click())
    check.expect("the receipt", "Receipt" in check.text() and "write-ahead log" in check.text(), check.text())
    check.sound("the receipt")
    check.go("/ui/u/demo/timeline")
    check.expect("it is gone", "marzipan" not in check.text())
    check.go("/ui/u/demo/timeline?by=recorded")
    check.expect("from the events too", "marzipan" not in check.text())


def hostile(check):
    for text in CORPUS:
        send(check.base, "/memory/mallory/turns", {
            "messages": [{"role": "user", "name": text[:60], "content": f"I live in {text}."}], "session_id": text, "topic": text[:40],
        })
        send(check.base, "/memory/write", {
            "user_id": "mallory", "facts": [{"predicate": "likes", "object": text}], "notes": [{"text": text}],
            "tasks": [{"title": text}], "tenets": [{"kind": "value", "text": text}],
        })
    for page in PAGES:
        check.go("/ui/u/mallory" + page)
        check.sound(f"mallory {page}")
    for text in CORPUS:
        check.go("/ui/u/mallory/search?q=" + urllib.request.quote(text))
        check.sound(f"searching for {text}")
        check.expect("it is shown as it was written", text in check.one("#q").get_attribute("value"))
    check.go("/ui/u/mallory/sessions")
    for place in range(len(check.all(".list .what"))):
        check.submits(check.all(".list .what")[place].click)
        check.sound("a session of mallory's")
        check.browser.back()


def without_script(check):
    check.browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    check.go("/ui/u/demo/review")
    waits = len(check.all(".review"))
    check.one("button[value='approve']").click()
    # The next page may still be loading, and no script can say so.
    end = time.monotonic() + PATIENCE
    while (not check.all("main") or len(check.all(".review")) != waits - 1) and time.monotonic() < end:
        time.sleep(0.02)
    check.expect("forms work without a script", len(check.all(".review")) == waits - 1, check.text())
    phone(check, "without a script")
    check.browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


def started(quipu, folder):
    env = {"HOME": folder, "XDG_CONFIG_HOME": folder, "QUIPU_DATA_DIR": folder + "/data", "PATH": os.environ["PATH"]}
    serving = subprocess.Popen([quipu, "serve", "--addr", "127.0.0.1:0", "--json"], env=env, stdout=subprocess.PIPE, text=True)
    screen = ""
    for line in serving.stdout:
        screen += line
        try:
            return serving, json.loads(screen)["addr"]
        except json.JSONDecodeError:
            continue
    raise SystemExit("quipu serve did not start")


def main():
    quipu, axe = sys.argv[1:3]
    shots = sys.argv[3] if len(sys.argv) > 3 else None
    with tempfile.TemporaryDirectory() as folder:
        serving, addr = started(quipu, folder)
        try:
            check = Check(f"http://{addr}", axe, shots)
            try:
                for step in [load_demo, every_page, theme, keys, review, edit_and_undo, at_once, session, live, menu, erase, hostile, without_script]:
                    started_at = time.monotonic()
                    step(check)
                    print(f"  {step.__name__}: {time.monotonic() - started_at:.1f} s", flush=True)
            finally:
                check.browser.quit()
        finally:
            serving.send_signal(signal.SIGINT)
            serving.wait(PATIENCE)
    sizes = sorted(check.figures, key=lambda one: one[1])
    paints = sorted(paint for _, _, paint in check.figures if paint)
    print(f"bytes of a page: {sizes[0][1]} to {sizes[-1][1]} ({sizes[-1][0]})")
    print(f"first contentful paint: half within {paints[len(paints) // 2]:.0f} ms, all within {paints[-1]:.0f} ms")
    print(f"inspector: {check.done} checks passed on {len(check.figures)} views")


if __name__ == "__main__":
    main()
