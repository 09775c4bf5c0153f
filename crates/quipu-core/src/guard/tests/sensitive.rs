use super::super::sensitive::SensitiveKind::{
    CriminalRecord, Ethnicity, GovernmentId, Intimate, PoliticalOpinion, Religion, SexualOrientation,
    StigmatisedHealth, TradeUnion,
};
use super::super::sensitive::sensitivity;

#[test]
fn plain_statements_about_a_person_are_seen() {
    let mut wrong = Vec::new();
    for (kind, text) in [
        (Religion, "I'm Catholic."),
        (Religion, "My wife is a practising Muslim"),
        (Religion, "I was raised Jewish but I am not religious"),
        (Religion, "I converted to Buddhism last year"),
        (Religion, "we go to church every Sunday"),
        (Religion, "I don't believe in God"),
        (Religion, "my religion forbids pork"),
        (SexualOrientation, "I'm gay and live with Tom"),
        (SexualOrientation, "My brother came out as bisexual"),
        (SexualOrientation, "she's trans"),
        (SexualOrientation, "I came out to my parents in May"),
        (SexualOrientation, "it shows my own journey as a transgender woman"),
        (SexualOrientation, "I talked about my transgender journey"),
        (Religion, "As a Muslim, I fast in Ramadan"),
        (PoliticalOpinion, "I always vote Labour"),
        (PoliticalOpinion, "I voted for the Greens"),
        (PoliticalOpinion, "I'm a registered Republican"),
        (PoliticalOpinion, "My father is a communist."),
        (PoliticalOpinion, "my political views are rather left"),
        (TradeUnion, "I'm a union member"),
        (TradeUnion, "I joined the teachers' union in March"),
        (TradeUnion, "my trade union called a strike"),
        (CriminalRecord, "I was convicted of theft in 2019"),
        (CriminalRecord, "I have a criminal record"),
        (CriminalRecord, "my brother is in prison"),
        (CriminalRecord, "I spent two years in jail"),
        (Ethnicity, "I'm Black and grew up in Leeds"),
        (Ethnicity, "my mother is of Kurdish descent"),
        (Ethnicity, "she is a Roma woman"),
        (Ethnicity, "my ethnicity is mixed"),
        (GovernmentId, "my passport number is X1234567"),
        (GovernmentId, "Driver's license: D123-4567-8901"),
        (GovernmentId, "my national insurance number is QQ 12 34 56 C"),
        (GovernmentId, "Aadhaar 1234 5678 9012"),
        (StigmatisedHealth, "I tried to kill myself last year"),
        (StigmatisedHealth, "I'm bipolar"),
        (StigmatisedHealth, "my brother was diagnosed with schizophrenia"),
        (StigmatisedHealth, "I have HIV"),
        (Intimate, "I'm having an affair"),
        (Intimate, "my sex life is dull"),
        (Intimate, "I cheated on my wife"),
        (Intimate, "I had an abortion in 2015"),
    ] {
        if sensitivity(text) != Some(kind) {
            wrong.push((text, sensitivity(text)));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn what_is_only_talked_about_is_left_alone() {
    let mut wrong = Vec::new();
    for text in [
        "I have diabetes and take insulin",
        "I have borderline high cholesterol",
        "I'm in rehab for my knee",
        "I had the hepatitis B jab",
        "I'm writing a thesis on psychosis",
        "I hurt myself at football last week",
        "I'm allergic to peanuts",
        "I'm depressed lately",
        "I'm French and live in Porto",
        "I'm German",
        "my car is black",
        "my hair is black",
        "I am in the black this month",
        "I like my coffee black",
        "I wore a white shirt",
        "my sister loves Asian food",
        "I'm an Asian food lover",
        "I'm reading a book about Catholic history",
        "the Christian Bale film was great",
        "the vote was at noon and we voted on the colour",
        "I voted for the blue logo design in the poll",
        "we are conservative with our estimates",
        "I'm liberal with the salt",
        "the European Union has 27 members",
        "credit union account",
        "my credit union is closed today",
        "I am convinced",
        "I have conviction in this idea",
        "the union of two sets",
        "I'm straight out of college",
        "go straight on",
        "I need to renew my passport in June",
        "my passport expires in 2031",
        "my driving license is new",
        "I'm in my prime",
        "the affair was on the news",
        "prison break is my favourite series",
        "I'm having a party",
        "I left the party at ten",
        "I am a member of the climbing club",
        "my faithful dog is called Rex",
        "I slept well",
        "she was charged with organising the trip",
        "my partner is vegan",
        "I'm at the temple bar",
        "the visa took 12 weeks",
        "as white as snow",
        "as black coffee goes, it is fine",
    ] {
        if let Some(kind) = sensitivity(text) {
            wrong.push((text, kind));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
