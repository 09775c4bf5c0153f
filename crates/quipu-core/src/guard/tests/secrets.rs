//! Positive examples are assembled from pieces, so that secret scanners do not flag this repository.

use proptest::prelude::*;

use super::super::secrets::redact;

/// Deterministic pseudo-random letters and digits.
fn noise(length: usize) -> String {
    let mut state = 0x9e37_79b9_u32;
    let alphabet = b"abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789";
    let mut draw = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        char::from(alphabet[(state >> 16) as usize % alphabet.len()])
    };
    (0..length).map(|_| draw()).collect()
}

fn hex(length: usize) -> String {
    noise(4 * length).bytes().map(|b| char::from(b"0123456789abcdef"[usize::from(b) % 16])).take(length).collect()
}

fn upper(length: usize) -> String {
    noise(length).to_uppercase().replace(['8', '9'], "7")
}

/// `‹secret›` in a template marks what must be redacted; the rest must stay.
#[track_caller]
fn check_all<T: AsRef<str>>(cases: &[(&str, T)]) {
    let wrong: Vec<String> = cases.iter().filter_map(|(kind, template)| fault(kind, template.as_ref())).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The mismatch of a redacted template, if any.
fn fault(kind: &str, template: &str) -> Option<String> {
    let text = template.replace(['‹', '›'], "");
    let (before, rest) = template.split_once('‹').unwrap_or((template, "›"));
    let (_, after) = rest.split_once('›').unwrap_or_default();
    let expected = format!("{before}[REDACTED:{kind}]{after}");
    let redacted = redact(&text);
    let marker = format!("[REDACTED:{kind}]");
    let told = redacted.found.len() == 1
        && redacted.found[0].kind == kind
        && redacted.text.get(redacted.found[0].span.clone()) == Some(&marker);
    (redacted.text != expected || !told).then(|| format!("{text} -> {redacted:?}"))
}

#[test]
fn tokens_go_by_their_published_shape() {
    let cases: Vec<(&str, String)> = vec![
        ("aws_access_key", ["my key id is ‹AK", "IA", &upper(16), "›, ok?"].concat()),
        ("aws_access_key", ["‹AS", "IA", &upper(16), "›"].concat()),
        ("aws_secret_key", ["aws_secret_access_key = ‹", &noise(40), "›"].concat()),
        ("aws_secret_key", ["AWS secret key: \"‹", &noise(40), "›\""].concat()),
        ("github_token", ["push with ‹gh", "p_", &noise(36), "›."].concat()),
        ("github_token", ["‹gh", "s_", &noise(40), "›"].concat()),
        ("github_token", ["‹github", "_pat_", &noise(82), "›"].concat()),
        ("gitlab_token", ["‹glp", "at-", &noise(20), "› works"].concat()),
        ("slack_token", ["‹xo", "xb-", "123456789012-123456789012-", &noise(24), "›"].concat()),
        ("slack_token", ["‹xa", "pp-1-A0B1C2D3E4-", &noise(30), "›"].concat()),
        ("webhook", ["https://hooks.slack", ".com/services/‹T01234567/B01234567/", &noise(24), "›"].concat()),
        ("webhook", ["https://discord", ".com/api/webhooks/123456789012345678/‹", &noise(68), "›"].concat()),
        ("stripe_key", ["STRIPE=‹sk", "_live_", &noise(24), "›"].concat()),
        ("stripe_key", ["‹wh", "sec_", &noise(32), "›"].concat()),
        ("anthropic_key", ["export KEY=‹sk-", "ant-api03-", &noise(93), "AA›"].concat()),
        ("openai_key", ["‹sk-", "proj-", &noise(60), "›"].concat()),
        ("openai_key", ["‹sk-", &noise(20), "T3Blbk", "FJ", &noise(20), "›"].concat()),
        ("api_key", ["‹sk-", &hex(32), "›"].concat()),
        ("api_key", ["‹gs", "k_", &noise(52), "›"].concat()),
        ("google_key", ["‹AI", "za", &noise(35), "›"].concat()),
        ("google_key", ["‹GOC", "SPX-", &noise(28), "›"].concat()),
        ("package_token", ["//registry.npmjs.org/:_authToken=‹npm", "_", &noise(36), "›"].concat()),
        ("package_token", ["‹pypi-", "AgEIcHlwaS5vcmc", &noise(60), "›"].concat()),
        ("package_token", ["‹dckr", "_pat_", &noise(27), "›"].concat()),
        ("huggingface_token", ["‹h", "f_", &noise(80).replace(|c: char| c.is_ascii_digit(), ""), "›"].concat()),
        ("cloud_token", ["‹do", "p_v1_", &hex(64), "›"].concat()),
        ("cloud_token", ["vault ‹hv", "s.", &noise(24), "›"].concat()),
        ("cloud_token", ["‹da", "pi", &hex(32), "›"].concat()),
        ("app_token", ["‹S", "G.", &noise(22), ".", &noise(43), "›"].concat()),
        ("app_token", ["‹shp", "at_", &hex(32), "›"].concat()),
        ("app_token", ["‹fi", "gd_", &noise(40), "›"].concat()),
        ("app_token", ["twilio ‹S", "K", &hex(32), "›"].concat()),
        ("bot_token", ["‹110201543:", "AA", &noise(33), "›"].concat()),
        ("azure_key", ["AccountName=x;Account", "Key=‹", &noise(86), "==›;EndpointSuffix=core"].concat()),
        ("jwt", ["cookie ‹ey", "J", &noise(20), ".ey", "J", &noise(30), ".", &noise(43), "›"].concat()),
        ("bearer_token", ["Authorization: Bea", "rer ‹", &noise(32), "›"].concat()),
        ("basic_auth", ["Authorization: Ba", "sic ‹dXNlcjpodW50ZXIy›"].concat()),
    ];
    check_all(&cases);
}

#[test]
fn private_keys_go_whole() {
    let body = format!("{}\n{}\n{}=", noise(64), noise(64), noise(20));
    for name in ["RSA PRIVATE", "PRIVATE", "OPENSSH PRIVATE", "EC PRIVATE", "ENCRYPTED PRIVATE"] {
        let (head, tail) = (format!("-----BE{} {name} KEY-----", "GIN"), format!("-----E{} {name} KEY-----", "ND"));
        check_all(&[
            ("private_key", format!("here:\n‹{head}\n{body}\n{tail}›\nbye")),
            ("private_key", format!("cut off: ‹{head}\n{body}›")),
        ]);
    }
    check_all(&[
        ("private_key", format!("\"‹-----BE{} PRIVATE KEY-----\\n{}\\n-----END PRIVATE KEY-----›\"", "GIN", noise(64))),
        ("private_key", format!("‹AGE-SECRET-{}{}›", "KEY-1", "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L".repeat(2))),
    ]);
}

#[test]
fn of_an_assignment_only_the_value_goes() {
    let key = noise(24);
    let cases = [
        ("password", "password: ‹hunter2›"),
        ("password", "Password: ‹Tr0ub4dor&3›, user: bob"),
        ("password", "my password is ‹hunter2›."),
        ("password", "My Netflix password is ‹swordfish›"),
        ("password", "the password for the wifi at home is ‹Blaubeere-42› by the way"),
        ("password", "my wifi password is ‹swordfish› and my cat is Tom"),
        ("password", "wifi password = ‹guest!2024›"),
        ("password", "{\"user\": \"bob\", \"password\": \"‹open sesame 9›\"}"),
        ("password", "{\\\"password\\\": \\\"‹opensesame9›\\\"}"),
        ("password", "DB_PASSWORD=‹s3cr3t-x›"),
        ("password", "userPassword: '‹Winter2025!›'"),
        ("password", "config[\"password\"] = \"‹letmein1›\""),
        ("password", "<password>‹hunter2›</password>"),
        ("password", "mysql --password=‹r00tr00t› -u root"),
        ("password", "tool --password ‹r00tr00t›"),
        ("password", "curl -u bob:‹hunter22› https://x.test"),
        ("password", "user bob, pass: ‹hunter2x›"),
        ("password", "Server=db;User=sa;Pwd=‹Qwe12345›;"),
        ("password", "I changed my bank password to ‹Blue42Moon›"),
        ("password", "Mein Passwort ist ‹Sonnenschein1›"),
        ("password", "mot de passe : ‹azerty99›"),
        ("password", "**Password:** ‹hunter2›"),
        ("password", "passcode is ‹998877›"),
        ("password", "postgres://app:‹s3cr3t@x›@db.internal:5432/main"),
        ("password", "https://bob:‹hunter2›@git.test/x.git"),
        ("password", "redis://:‹p4ssw0rd›@cache:6379"),
        ("password", "root:‹t0psecret›@tcp(127.0.0.1:3306)/shop"),
        ("password", "login: bob / ‹hunter2x›"),
        ("pin", "my PIN is ‹4821›"),
        ("pin", "the PIN for my card is ‹482193›"),
        ("pin", "exp 12/27, CVV: ‹123›"),
        ("passphrase", "my passphrase is ‹correct horse battery staple›"),
        ("api_key", "api_key=‹KEY›"),
        ("api_key", "\"apiKey\": \"‹KEY›\","),
        ("api_key", "client_secret: ‹KEY›"),
        ("api_key", "the api key for weather is ‹KEY›"),
        ("api_key", "export ACCESS_TOKEN='‹KEY›'"),
        ("api_key", "api_key = ‹550e8400-e29b-41d4-a716-446655440000›"),
        ("secret", "token: ‹KEY›"),
        ("secret", "the key is ‹KEY›"),
    ];
    check_all(&cases.map(|(kind, template)| (kind, template.replace("‹KEY", &format!("‹{key}")))));
}

#[test]
fn numbers_go_if_their_checksum_holds() {
    check_all(&[
        ("credit_card", "card ‹4111 1111 1111 1111› exp 12/27"),
        ("credit_card", "‹4242424242424242›"),
        ("credit_card", "pay with ‹5555-5555-5555-4444› please"),
        ("credit_card", "amex ‹3782 822463 10005›"),
        ("credit_card", "‹378282246310005›"),
        ("credit_card", "‹6011111111111117› is my Discover"),
        ("credit_card", "‹3530 1113 3330 0000›"),
        ("credit_card", "order paid by visa ‹4012888888881881›"),
        ("credit_card", "my card is ‹4111 1111 1111 1111› 123"),
        ("iban", "IBAN: ‹DE89 3704 0044 0532 0130 00›."),
        ("iban", "‹GB82WEST12345698765432›"),
        ("iban", "send to ‹FR14 2004 1010 0505 0001 3M02 606› BIC XYZ"),
        ("iban", "‹NL91ABNA0417164300› thanks"),
        ("iban", "de iban is ‹es9121000418450200051332›"),
        ("ssn", "my ssn is ‹536-90-4399›"),
        ("ssn", "‹536-90-4399›"),
        ("ssn", "social security number ‹536 90 4399›"),
        ("ssn", "SSN: ‹536904399›"),
        (
            "seed_phrase",
            "my seed phrase is: ‹legal winner thank year wave sausage worth useful legal winner thank yellow›",
        ),
        (
            "seed_phrase",
            "recovery words are ‹1. letter 2. advice 3. cage 4. absurd 5. amount 6. doctor 7. acoustic 8. avoid 9. letter 10. advice 11. cage 12. above›",
        ),
    ]);
}

/// Texts that must stay unchanged.
const INNOCENT: &[&str] = &[
    "my password manager is 1Password",
    "my password manager is Bitwarden and I like it",
    "I need a password reset",
    "password reset: https://example.test/reset/abc",
    "Forgot password: click the link",
    "the password is wrong",
    "my password is not working again",
    "my password is stored in the vault",
    "The password is case sensitive.",
    "password is required",
    "Password: minimum length is 12 characters",
    "password must contain 8 characters",
    "My password is hard to remember",
    "my password is terrible",
    "I forgot the password to Netflix.",
    "password: <password>",
    "password: <your-password>",
    "password: ****",
    "password=********",
    "password: ${DB_PASSWORD}",
    "password: $DB_PASSWORD",
    "password = os.environ[\"DB_PASSWORD\"]",
    "password = getpass.getpass()",
    "let password = prompt(\"Password: \");",
    "password: String,",
    "def login(user: str, password: str) -> bool:",
    "self.password = password",
    "const password = req.body.password;",
    "if password == stored_password:",
    "\"password\": \"changeme\"",
    "\"password\": \"{{ vault.password }}\"",
    "password:\nusername: bob",
    "postgres://user:password@localhost/db",
    "postgres://localhost:5432/main",
    "postgres://${USER}:${PASS}@db/main",
    "https://example.test:8080/a@b",
    "mail me at bob@example.test: thanks",
    "api_key = \"YOUR_API_KEY\"",
    "api_key=your-api-key-here",
    "apiKey: process.env.API_KEY",
    "api_key: str = None",
    "OPENAI_API_KEY=sk-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    "sk-ant-...",
    "AKIAIOSFODNN7EXAMPLE",
    "the api key is missing",
    "the key is under the mat",
    "the secret is to keep the dough cold",
    "secret: I love her",
    "the secret to good bread is time",
    "token count: 128000",
    "max_tokens = 4096",
    "primary key: 550e8400-e29b-41d4-a716-446655440000",
    "public key: ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ8r",
    "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQC7",
    "idempotency key: 550e8400-e29b-41d4-a716-446655440000",
    "git commit a94a8fe5ccb19ba61c4c0873d391e987982fbbd3",
    "9e107d9d372bb6826bd81d3542a419d6",
    "550e8400-e29b-41d4-a716-446655440000",
    "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "call me at +1 415 555 2671",
    "my phone is 415-555-2671",
    "+44 20 7946 0958 or 0049 151 23456789",
    "born 1984-03-12, moved 12/03/2019",
    "2026-11-21T07:24:26Z",
    "ISBN 978-3-16-148410-0",
    "ISBN 9783161484100",
    "unix time 1755302400 and 1755302400123",
    "order 4111111111111111 shipped",
    "order number 123-45-6789",
    "part no 219-09-9999",
    "item 4123456789012 is out of stock",
    "tracking 1Z999AA10123456784",
    "4111 1111 1111 1112",
    "1234567890123456",
    "discord id 418279481920471040",
    "colour #ff8800 and #A1B2C3",
    "version 1.2.3.4 and 10.0.0.1",
    "DE89 3704 0044 0532 0130 01",
    "US12 this that with word more text",
    "000-12-3456 and 666-12-3456 and 912-12-3456",
    "π is 3.14159265358979323846",
    "-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A\n-----END PUBLIC KEY-----",
    "the file starts with -----BEGIN PRIVATE KEY----- and goes on",
    "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----",
    "pk_test_is_a_publishable_stripe_key",
    "my seed phrase is something that you should never share with anyone because then people could steal the coins",
    "I wrote my seed phrase down: keep it safe",
    "the pass is open in May",
    "boarding pass: AB1234",
    "tests pass: 45/50",
    "mountain pass: 2469m",
    "PIN the message to the top",
    "my pin is missing",
    "a bearer of bad news",
    "login: https://example.test/login2",
    "`libc::passwd::pw_gecos` are supported on Linux",
    "sk-learn and scikit-learn",
    "I live in Porto and work as a nurse",
    "bearer token authentication is what we use",
    "Authorization: Bearer <token>",
    "Authorization: Bearer $TOKEN",
    "token = tokenizer.next_token()",
    "the access token is expired",
    "cache key: user:12345:profile:settings",
    "access_token: string;",
    "[REDACTED:password] and password: [REDACTED:password]",
];

#[test]
fn what_is_no_secret_stays() {
    assert!(INNOCENT.len() >= 60);
    let mut wrong = Vec::new();
    for text in INNOCENT {
        let redacted = redact(text);
        if redacted.text != *text || !redacted.found.is_empty() {
            wrong.push(redacted.text.into_owned());
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn several_secrets_are_told_in_order_with_their_places() {
    let text = format!("pw: Abc12345 then ghp{}{} and password=hunter2;", "_", noise(36));
    let redacted = redact(&text);
    assert_eq!(redacted.text, "pw: [REDACTED:password] then [REDACTED:github_token] and password=[REDACTED:password];");
    for found in &redacted.found {
        assert_eq!(&redacted.text[found.span.clone()], format!("[REDACTED:{}]", found.kind));
    }
    assert_eq!(redacted.found.iter().map(|f| f.kind).collect::<Vec<_>>(), ["password", "github_token", "password"]);
}

#[test]
fn a_secret_glued_to_a_marker_goes_with_it() {
    let redacted = redact("password: abc[REDACTED:jwt]def12");
    assert_eq!(redacted.text, "password: [REDACTED:password]");
    assert_eq!(redact("see [REDACTED:nothing here").text, "see [REDACTED:nothing here");
}

#[test]
fn work_stays_bounded_on_hostile_text() {
    for piece in [
        "password:",
        "password: \"",
        "a://b:c",
        "-----BEGIN PRIVATE KEY-----",
        "4111 ",
        "eyJ",
        "seed phrase ",
        "token is ",
    ] {
        let text = piece.repeat((64 << 10) / piece.len());
        let once = redact(&text).text.into_owned();
        assert_eq!(redact(&once).text, once, "{piece}");
    }
}

/// Pieces to be concatenated in all ways.
const PIECES: &[&str] = &[
    "password",
    "is",
    ":",
    "=",
    " ",
    "\n",
    "\"",
    "'",
    "hunter2",
    "my",
    "token",
    "api_key",
    "4111 1111 1111 1111",
    "[REDACTED:password]",
    "[REDACTED:",
    "]",
    "DE89 3704 0044 0532 0130 00",
    "://",
    "@",
    "bob",
    "<",
    ">",
    "*",
    "-",
    ",",
    ";",
    ".",
    "swordfish",
    "and",
    "é",
    "pass",
    "login",
    "PIN",
    "4821",
    "536-90-4399",
    "a1b2c3d4e5f6g7h8i9",
    "secret",
    "(",
    ")",
    "${X}",
    "\\",
    "curl -u ",
    "Bearer",
    "to",
    "for",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn redacting_twice_is_redacting_once(places in proptest::collection::vec(0..PIECES.len(), 0..24)) {
        let text: String = places.iter().map(|&place| PIECES[place]).collect();
        let once = redact(&text);
        let twice = redact(&once.text);
        prop_assert_eq!(&twice.text, &once.text, "{}", text);
        prop_assert!(twice.found.is_empty());
        for found in &once.found {
            prop_assert_eq!(&once.text[found.span.clone()], &format!("[REDACTED:{}]", found.kind));
        }
    }

    #[test]
    fn any_text_can_be_redacted(text in "\\PC{0,200}") {
        let once = redact(&text).text.into_owned();
        prop_assert_eq!(&redact(&once).text, &once);
    }
}

#[test]
fn a_long_value_goes_to_its_end() {
    let redacted = redact(&format!("password={} next", noise(3000))).text.into_owned();
    assert_eq!(redacted, "password=[REDACTED:password] next");
}
