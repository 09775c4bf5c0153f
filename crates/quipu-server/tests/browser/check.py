"""Tests the inspector in headless Chromium with Selenium and axe-core.

    python check.py QUIPU AXE_MIN_JS [SCREENSHOTS]

Starts `quipu serve` on an empty folder, loads the demo data with the button, and acts as a person would: views every page in
the light, dark and narrow layouts, decides by key, edits, undoes, searches, asks (also a model), ticks off, imports, ticks several and erases. Users' text must stay escaped. The
size of every page is asserted; times are only printed.
"""

import contextlib
import http.server
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
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
    "/core?path=/location/current", "/core?from=1", "/topics", "/people", "/tasks", "/tasks?all=1", "/sessions", "/timeline", "/timeline?by=recorded",
    "/timeline?remarks=1", "/memories?find=sleep&sort=newest", "/memories?kind=tenets", "/ask", "/ask?q=Where+does+Ines+live%3F", "/review",
    "/review?decided=1", "/conflicts", "/search", "/search?q=Where+does+Ines+live%3F", "/pack?q=Where+does+Ines+live%3F",
    "/upkeep", "/import", "/privacy",
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


@contextlib.contextmanager
def seen_in_all_looks(check, what):
    """Runs its body's page through both widths and both colour schemes, and takes its picture."""
    yield
    for scheme in ["light", "dark"]:
        for look, width in [("wide", 1280), ("narrow", 390)]:
            check.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
            check.browser.execute_cdp_cmd(
                "Emulation.setDeviceMetricsOverride", {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
            )
            # Colours change over some time.
            end = time.monotonic() + PATIENCE
            while check.browser.execute_script("return document.getAnimations().length") and time.monotonic() < end:
                time.sleep(0.02)
            check.sound(f"{what} ({scheme}, {look})")
            over = check.browser.execute_script("return document.documentElement.scrollWidth - document.documentElement.clientWidth")
            check.expect(f"{what} ({scheme}, {look}): nothing sticks out", over <= 0, over)
            check.shot(f"{scheme}-{look}-{what.replace(' ', '-')}")
    check.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    check.browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def tasks(check):
    send(check.base, "/memory/write", {
        "user_id": "otto", "tasks": [{"title": "renew the passport", "due": "2020-01-02T00:00:00Z"}, {"title": "learn to sing"}],
    })
    check.go("/ui/u/otto")
    with seen_in_all_looks(check, "an overdue task on the front page"):
        check.expect("an overdue task waits", "renew the passport" in check.one("#waits").find_element(By.XPATH, "..").text, check.text())
    check.one(".due button").send_keys("")
    check.submits(lambda: check.press(Keys.ENTER))
    check.expect("Enter on its button ticks it off", "records it" in check.one(".done").text, check.text())
    check.expect("and it waits no more", not check.all(".due"), check.text())
    check.submits(lambda: check.one(".done a.button").click())
    check.submits(lambda: check.one("form[method='post'] button.main").click())
    check.go("/ui/u/otto/tasks")
    check.expect("the undo opens it again", "renew the passport" in check.text(), check.text())
    check.submits(lambda: check.one("button[aria-label='Done: learn to sing']").click())
    check.go("/ui/u/otto/tasks?all=1")
    with seen_in_all_looks(check, "tasks done and open"):
        check.expect("a task that is done can be reopened", check.all("button[aria-label='Reopen: learn to sing']"), check.text())
    check.submits(lambda: check.one("button[aria-label='Reopen: learn to sing']").click())
    check.expect("it is open", check.all("button[aria-label='Done: learn to sing']"), check.text())


def chat_export(conversations, start="c"):
    def one(number):
        name = "Rui" + "".join("abcdefghij"[int(digit)] for digit in f"{number:03}")
        said = [("user", f"I like tea number {number}."), ("assistant", "Noted."), ("user", f"My friend {name} came by.")]
        mapping = {}
        for place, (role, text) in enumerate(said):
            mapping[f"n{place}"] = {"parent": f"n{place - 1}" if place else None, "message": {
                "id": f"{start}{number}-{place}", "author": {"role": role}, "create_time": 1767261600.0 + number * 60 + place,
                "content": {"content_type": "text", "parts": [text]},
            }}
        return {"id": f"{start}{number}", "conversation_id": f"{start}{number}", "title": f"Talk {number}", "create_time": 1767261600.0, "current_node": "n2", "mapping": mapping}

    return json.dumps([one(number) for number in range(conversations)]).encode()


def upload(check, user, name, content):
    folder = tempfile.mkdtemp(dir=check.folder)
    path = os.path.join(folder, name)
    pathlib.Path(path).write_bytes(content)
    check.go(f"/ui/u/{user}/import")
    check.one("#file").send_keys(path)


def importing(check):
    check.go("/ui/u/ada/import")
    with seen_in_all_looks(check, "nothing was uploaded"):
        pass
    upload(check, "ada", "conversations.json", b" " * 64_000_001)
    check.expect("a file that is too large is not sent", not check.browser.execute_script("return document.getElementById('file').checkValidity()"))
    upload(check, "ada", "conversations.json", chat_export(400))
    check.one("input[name='mine']").click()
    check.submits(lambda: check.one("button.main").click())
    with seen_in_all_looks(check, "what an import would do"):
        check.expect("it says what it is", "1,200 messages in 400 conversations" in check.text() and "ChatGPT export" in check.text(), check.text())
        check.expect("and whose words", "counts as your own words" in check.text(), check.text())
    check.submits(lambda: check.one("button[value='start']").click())
    running = check.all("progress")
    if running:
        check.sound("an import that runs")
        check.shot("an-import-that-runs")
    shows(check, "h1", "is imported", "the page shows by itself that the import is done")
    with seen_in_all_looks(check, "an import that is done"):
        check.expect("it says how to undo it", "Undo all of it" in check.text(), check.text())
    check.go("/ui/u/ada/people")
    with seen_in_all_looks(check, "many people"):
        check.expect("the people of the export are there", "Ruiaab" in check.text(), check.text()[:500])
    check.go("/ui/u/ada/timeline")
    first = len(check.all(".knots .what"))
    check.expect("a day of many is paged", 0 < first <= 120, first)
    check.submits(lambda: next(link for link in check.all(".pager a.button") if link.text == "Earlier").click())
    with seen_in_all_looks(check, "a day that goes on"):
        check.expect("and goes on", "continued" in check.text(), check.text()[:300])
    upload(check, "ada", "data.bin", b"I live in Faro.")
    check.submits(lambda: check.one("button.main").click())
    with seen_in_all_looks(check, "a file that tells nothing of itself"):
        check.expect("it asks what it is", "What kind of file is it?" in check.text(), check.text())
    check.submits(lambda: check.one("button[value='drop']").click())
    check.expect("and can be given up", check.browser.current_url.endswith("/import"), check.browser.current_url)
    check.go("/ui/u/ada/upkeep")
    check.submits(lambda: next(link for link in check.all("main a") if link.text == "Revert…").click())
    check.submits(lambda: check.one("form[method='post'] button.main").click())
    check.go("/ui/u/ada/people")
    check.expect("the undo takes all of it back", "Nobody yet" in check.text(), check.text()[:300])


def model(check):
    check.go("/ui/u/demo/ask?q=Where+does+Ines+live%3F")
    check.expect("nothing was asked by looking", check.asked == [], check.asked)
    ask = "form[action$='/ask'][method='post'] button"
    with seen_in_all_looks(check, "a model that can be asked"):
        pass
    check.submits(lambda: check.one(ask).click())
    with seen_in_all_looks(check, "what a model answers"):
        check.expect("the model's answer is shown", check.all(".answer") and "in a town by the sea" in check.one(".answer").text, check.text())
        check.expect("with what it was given", check.all(".given li"), check.text())
    check.down = True
    check.submits(lambda: check.one(ask).click())
    with seen_in_all_looks(check, "a model that is down"):
        check.expect("a model that is down is told as such", "gave no answer" in check.text() and check.all("#verdict"), check.text())


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
    upload(check, "eve", "notes.txt", b"I live in Faro.\n\nI like tea.")
    check.one("button.main").click()
    waits_for(check, "button[value='start']", "a preview without a script")
    check.one("button[value='start']").click()
    end = time.monotonic() + PATIENCE
    while not check.all("#undo") and time.monotonic() < end:
        time.sleep(0.1)
        check.browser.refresh()
    check.expect("an import can be followed by loading its page again", check.all("#undo"), check.text())
    check.go("/ui/u/otto/tasks")
    check.one("button[aria-label='Done: learn to sing']").click()
    waits_for(check, ".done", "a task is ticked off without a script")
    phone(check, "without a script")
    check.browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


def waits_for(check, selector, what):
    """Waits until an element is there, without a script."""
    end = time.monotonic() + PATIENCE
    while not check.all(selector) and time.monotonic() < end:
        time.sleep(0.02)
    check.expect(what, check.all(selector))


class Vendor(http.server.BaseHTTPRequestHandler):
    """A chat model that says where somebody lives, until it is down."""

    check = None

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if Vendor.check is None or Vendor.check.down:
            self.send_error(500)
            return
        Vendor.check.asked.append(body)
        message = {"role": "assistant", "content": "She lives <b>in a town by the sea</b> [1]."}
        reply = {"id": "1", "object": "chat.completion", "model": "fake", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
                 "usage": {"prompt_tokens": 2500, "completion_tokens": 9, "total_tokens": 2509}}
        sent = json.dumps(reply).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(sent)))
        self.end_headers()
        self.wfile.write(sent)

    def log_message(self, *_):
        pass


def started(quipu, folder):
    vendor = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Vendor)
    threading.Thread(target=vendor.serve_forever, daemon=True).start()
    config = pathlib.Path(folder, "quipu", "config.toml")
    config.parent.mkdir()
    address = f"http://127.0.0.1:{vendor.server_address[1]}/v1"
    config.write_text(f'[models.chat]\nprovider = "openai"\nmodel = "fake"\nbase_url = "{address}"\n')
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
            check.folder, check.asked, check.down, Vendor.check = folder, [], False, check
            try:
                for step in [load_demo, every_page, theme, keys, review, edit_and_undo, at_once, tasks, importing, model, session, live, menu, erase, hostile, without_script]:
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
