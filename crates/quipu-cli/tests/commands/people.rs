//! What people say of their tasks and their lives, whose words an import has, and what a command reaches.

use serde_json::Value;

use super::check;
use super::place::Place;

/// Says messages of one day each, and returns what was printed for each.
fn say(place: &Place, said: &[(&str, &str)]) -> Vec<String> {
    said.iter().map(|(day, text)| check(place, &["add", "--said-at", day, text], 0, &[])).collect()
}

#[test]
fn tasks_are_ticked_off_in_peoples_own_words() {
    let place = Place::new("");
    say(
        &place,
        &[
            ("2026-11-03", "to do: cancel internet at old place, change address with the bank, hire a van"),
            ("2026-11-04", "I need to renew my passport, fix the gate and email Tom about the invoice by friday"),
            ("2026-11-04", "add to my list: water the plants, book the dentist"),
            ("2026-11-04", "I have to return the library books"),
            ("2026-11-04", "I must pay the car insurance"),
        ],
    );
    let open = check(&place, &["tasks"], 0, &["hire a van", "fix the gate", "water the plants"]);
    assert_eq!(open.lines().count(), 10, "{open}");
    let told = say(
        &place,
        &[
            ("2026-11-05", "internet cancelled, done with the bank too"),
            ("2026-11-07", "passport is renewed"),
            ("2026-11-08", "paid the car insurance, 912 bucks ouch"),
            ("2026-11-08", "Watered the plants"),
            ("2026-11-09", "don't need to return the library books anymore, Dan did it"),
            ("2026-11-09", "I have not fixed the gate"),
            ("2026-11-09", "called about the van, no answer"),
        ],
    );
    assert!(told.iter().take(4).all(|one| one.contains("(done)") && !one.contains("task opened")), "{told:?}");
    let open = check(&place, &["tasks", "--now", "2026-11-20"], 0, &["hire a van", "email Tom", "book the dentist"]);
    let gate = open.lines().find(|line| line.contains("fix the gate")).unwrap();
    assert!(gate.contains("due 2026-11-06, overdue"), "{open}");
    assert_eq!(open.lines().count(), 4, "{open}");

    // By hand.
    let id = gate.rsplit(' ').next().unwrap();
    check(&place, &["done", id], 0, &["fix the gate", "done"]);
    check(&place, &["done", id], 1, &["already"]);
    check(&place, &["reopen", id], 0, &["active"]);
    check(&place, &["drop", id], 0, &["dropped"]);
    check(&place, &["done", "task_0000000000000"], 3, &["no item"]);
}

#[test]
fn changes_in_a_life_end_what_was_so_before() {
    let place = Place::new("");
    say(
        &place,
        &[
            ("2026-09-01", "I live with my husband Rob in Leeds"),
            ("2026-09-10", "We moved! officially living in York now"),
            ("2026-09-11", "I take sumatriptan for migraines"),
            ("2026-09-12", "she switched me from sumatriptan to rizatriptan"),
            ("2026-09-13", "I'm vegetarian"),
            ("2026-09-14", "I eat meat again"),
            ("2026-09-15", "I'm 41"),
            ("2026-09-15", "oops I meant 42"),
            ("2026-09-19", "My boss is Linda"),
            ("2026-09-20", "my new boss is Greg"),
            ("2026-09-21", "I hate loud, crowded places"),
            ("2026-09-22", "my health card number is 0000 123 456"),
            ("2026-09-23", "I'd rather have a flat with a kitchen, Wren being veggie."),
            ("2026-10-22", "I work at Harbour Animal Clinic."),
            ("2026-10-23", "gave notice at Harbour Animal Clinic, last day is november 6"),
        ],
    );
    // Without the quotations.
    let facts = |day: &str| {
        let printed = check(&place, &["facts", "--valid-at", day], 0, &[]);
        printed.lines().filter(|line| !line.starts_with(' ')).collect::<Vec<_>>().join("\n")
    };
    let held = facts("2026-10-30");
    for piece in
        ["York", "rizatriptan", "42 years", "Greg", "loud, crowded places", "Harbour Animal Clinic · until 2026-11-06"]
    {
        assert!(held.contains(piece), "no {piece:?} in {held}");
    }
    for piece in
        ["Leeds", "takes sumatriptan", "vegetarian", "41 years", "Linda", "dislikes loud  ", "phone", "diet is"]
    {
        assert!(!held.contains(piece), "{piece:?} in {held}");
    }
    let later = facts("2026-11-10");
    assert!(!later.contains("User works at Harbour"), "{later}");
}

#[test]
fn a_chat_between_people_says_whose_words_are_the_users() {
    let place = Place::new("");
    let chat = place.0.path().join("chat.txt");
    let lines = [
        "21/09/2026, 10:00 - Anna: I'm allergic to nuts.",
        "21/09/2026, 10:01 - Jonas: I'm allergic to penicillin.",
        "21/09/2026, 10:02 - Anna: I live in Hamburg.",
    ];
    std::fs::write(&chat, lines.join("\n") + "\n").unwrap();
    let path = chat.to_str().unwrap();
    check(&place, &["import", "whatsapp", path, "--mine"], 2, &["is by Anna, Jonas", "--me NAME"]);
    let listed = place.run(&["list"]);
    assert!(!String::from_utf8_lossy(&listed.stdout).contains("allergic"), "{listed:?}");
    check(
        &place,
        &["import", "whatsapp", path, "--me", "Jona"],
        2,
        &["nobody in it is called \"Jona\"", "Anna, Jonas"],
    );
    check(&place, &["import", "whatsapp", path, "--me", "Jonas"], 0, &["3 new"]);
    let facts = check(&place, &["facts"], 0, &["User is allergic to penicillin", "Anna"]);
    assert!(!facts.contains("User is allergic to nuts") && !facts.contains("User lives in Hamburg"), "{facts}");
}

#[test]
fn a_session_is_an_option_of_the_commands_that_obey_it() {
    let place = Place::new("");
    check(&place, &["add", "--session", "one", "My dog is called Rex."], 0, &[]);
    check(&place, &["add", "--session", "two", "My cat is called Bo."], 0, &[]);
    for args in [["erase", "--everything", "--session", "one"], ["export", "--format", "json", "--session"]] {
        check(&place, &args, 2, &["--session"]);
    }
    let found = check(&place, &["recall", "--session", "one", "What is my pet called?"], 0, &["Rex"]);
    assert!(!found.contains("Bo."), "{found}");
    // What an erasure destroys is shown first.
    check(&place, &["erase", "1", "--dry-run"], 0, &["It would destroy", "1.0", "read from it", "nothing was erased"]);
    check(&place, &["erase", "--everything", "--dry-run"], 0, &["events", "nothing was erased"]);
    check(&place, &["recall", "What is my dog called?"], 0, &["Rex"]);
}

#[test]
fn what_is_to_end_has_not_ended() {
    let day = "2026-11-30";
    let after = |before: &str, said: &str| {
        let place = Place::new("");
        say(&place, &[("2026-06-01", before), (day, said)]);
        check(&place, &["facts", "--all"], 0, &[])
    };
    for (before, said, holds) in [
        // At a time that is no date, it holds without an end.
        ("I take metformin.", "I'm coming off metformin in the new year", "User takes metformin  "),
        ("I play tennis.", "I'm quitting tennis after Christmas", "tennis  "),
        // A month or a day without a year is ahead.
        ("I work at Tesco.", "My contract at Tesco ends in March", "User works at Tesco · until 2027-03"),
        ("I play tennis.", "I'm quitting tennis next month", "until 2026-12"),
    ] {
        let facts = after(before, said);
        let line = facts.lines().find(|line| line.contains(holds));
        assert!(line.is_some_and(|line| !line.contains("superseded")), "{said}: {facts}");
    }
    // What was never noted holds until the day named.
    let facts = after("Hello there.", "My last day at Boots is 18 December");
    let line = facts.lines().find(|line| line.contains("User works at Boots · until 2026-12-18"));
    assert!(line.is_some_and(|line| !line.contains("superseded")), "{facts}");
    // And what was so once ends nothing that is to end later.
    let place = Place::new("");
    say(
        &place,
        &[
            ("2026-06-01", "I work at Tesco."),
            (day, "My last day at Tesco is 18 December"),
            (day, "I used to work at Boots."),
        ],
    );
    check(&place, &["facts"], 0, &["User works at Tesco · until 2026-12-18  "]);
    // Somebody else's job is not the user's.
    let facts = after("Hello there.", "We're moving to Lisbon in February, Camila got a job at Farfetch");
    assert!(!facts.contains("User works at Farfetch"), "{facts}");
}

#[test]
fn help_is_asked_for_in_either_way() {
    let place = Place::new("");
    let all = check(&place, &["help"], 0, &["Remember:", "recall"]);
    assert_eq!(all, check(&place, &["--help"], 0, &[]));
    assert_eq!(check(&place, &["help", "add"], 0, &["Record a message"]), check(&place, &["add", "--help"], 0, &[]));
    check(&place, &["help", "nonsense"], 2, &["nonsense"]);
}

#[test]
fn what_begins_on_a_day_ahead_ends_nothing_before() {
    let place = Place::new("");
    check(&place, &["add", "I work at Mercy Hospital."], 0, &[]);
    let told =
        check(&place, &["add", "From 1 February 2090 I'm working for Siemens."], 0, &["holds until a day ahead"]);
    assert!(told.contains("begins on a day ahead"), "{told}");
    check(&place, &["core"], 0, &["\"employer\": \"Mercy Hospital\""]);
    let facts = check(&place, &["facts"], 0, &["Mercy Hospital · until 2090-02-01", "Siemens · from 2090-02-01"]);
    assert!(!facts.contains("superseded"), "{facts}");
    // An id may be given by its beginning.
    let line = facts.lines().find(|line| line.contains("Siemens · from")).unwrap();
    let id = line.rsplit(' ').next().unwrap();
    check(&place, &["erase", "--dry-run", &id[..12]], 0, &["It would destroy"]);
    check(&place, &["retract", id], 0, &[]);
    let facts = check(&place, &["facts"], 0, &["Mercy Hospital"]);
    assert!(!facts.contains("until 2090"), "{facts}");
}

#[test]
fn what_was_retracted_is_marked_wherever_its_words_are_shown() {
    let place = Place::new("");
    check(&place, &["add", "I have two cats. They are called Mimi and Bo. I am allergic to nuts."], 0, &[]);
    let facts = check(&place, &["facts"], 0, &[]);
    let line = facts.lines().find(|line| line.contains("allergic to nuts") && line.contains("fact_")).unwrap();
    check(&place, &["retract", line.rsplit(' ').next().unwrap()], 0, &[]);
    for question in ["what can I cook?", "Am I allergic to nuts?", "any allergies?", "What am I allergic to?"] {
        let pack = check(&place, &["context", question], 0, &[]);
        let shown = pack.lines().find(|line| line.contains("I am allergic to nuts."));
        assert!(shown.is_none_or(|line| line.contains("taken back: User is allergic to nuts")), "{question}: {pack}");
    }
}

#[test]
fn what_others_say_of_themselves_in_a_chat_is_no_answer_about_the_user() {
    let place = Place::new("");
    let chat = place.0.path().join("chat.txt");
    let lines = [
        "Marta: hi, how are you?",
        "Joana: I'm pregnant!! due in May",
        "Marta: I'm so happy for you, I'm vegetarian now",
    ];
    let line = |(minute, line): (usize, &&str)| format!("01/11/2026, 10:0{minute} - {line}\n");
    std::fs::write(&chat, lines.iter().enumerate().map(line).collect::<String>()).unwrap();
    check(&place, &["import", "whatsapp", chat.to_str().unwrap(), "--me", "Marta", "--date-order", "dmy"], 0, &[]);
    let verdict = |question: &str| {
        let output = place.run(&["recall", question, "-o", "json"]);
        let found: Value = serde_json::from_slice(&output.stdout).unwrap();
        found["decision"]["verdict"].as_str().unwrap().to_owned()
    };
    assert_ne!(verdict("Am I pregnant?"), "answer");
    assert_eq!(verdict("Is Joana pregnant?"), "answer");
    assert_eq!(verdict("Am I vegetarian?"), "answer");
}

#[test]
fn nothing_is_erased_without_the_receipt_that_was_asked_for() {
    let place = Place::new("");
    check(&place, &["add", "the canary sings"], 0, &[]);
    let (kept, nowhere) = (place.0.path().join("kept.json"), place.0.path().join("nowhere/receipt.json"));
    std::fs::write(&kept, "mine").unwrap();
    for (receipt, code) in [(&kept, 1), (&nowhere, 5)] {
        let args = ["erase", "1", "--yes", "--receipt", receipt.to_str().unwrap()];
        check(&place, &args, code, &["Nothing was erased"]);
        check(&place, &["recall", "canary"], 0, &["the canary sings"]);
    }
    assert_eq!(std::fs::read_to_string(&kept).unwrap(), "mine");
    // An erasure that fails leaves no file behind.
    let receipt = place.0.path().join("receipt.json");
    let receipt_path = receipt.to_str().unwrap();
    check(&place, &["erase", "99", "--yes", "--receipt", receipt_path], 3, &[]);
    assert!(!receipt.exists());
    check(&place, &["erase", "1", "--yes", "--receipt", receipt_path], 0, &[]);
    assert!(std::fs::read_to_string(&receipt).unwrap().contains("erased"));
}

#[test]
fn a_damaged_backup_of_one_user_changes_nothing_of_theirs_and_stops_nobody_else() {
    let place = Place::new("");
    for user in ["ana", "bo", "cy"] {
        check(&place, &["-u", user, "add", "I live in Porto, and my code word is quetzal."], 0, &[]);
    }
    let backup = place.0.path().join("backup");
    check(&place, &["backup", backup.to_str().unwrap()], 0, &[]);
    let manifest: Value = serde_json::from_slice(&std::fs::read(backup.join("manifest.json")).unwrap()).unwrap();
    let users = manifest["users"].as_array().unwrap();
    let bo = users.iter().find(|held| held["user_id"] == "bo").unwrap();
    let file = backup.join(bo["file"].as_str().unwrap());
    let mut bytes = std::fs::read(&file).unwrap();
    let at = bytes.windows(7).position(|part| part == b"quetzal").unwrap();
    bytes[at] ^= 1;
    std::fs::write(&file, bytes).unwrap();
    let empty = Place::new("");
    check(&empty, &["restore", backup.to_str().unwrap()], 1, &["damaged: bo", "2 others were restored"]);
    for user in ["ana", "cy"] {
        check(&empty, &["-u", user, "verify"], 0, &["INTACT"]);
    }
    check(&empty, &["-u", "bo", "recall", "code word"], 0, &[]);
    let status = check(&empty, &["status"], 0, &["ana", "cy"]);
    assert!(!status.lines().any(|line| line.trim_start().starts_with("bo ")), "{status}");
    // A memory that is there stays as it was.
    check(&place, &["restore", "--replace", backup.to_str().unwrap()], 1, &["damaged: bo"]);
    check(&place, &["-u", "bo", "verify"], 0, &["INTACT"]);
}
