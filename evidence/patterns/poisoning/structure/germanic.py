"""Words of English, German, Dutch and Swedish."""

from __future__ import annotations

from typing import Final

from evidence.patterns.poisoning.structure.concepts import Concept, Vocabulary

ENGLISH: Final[Vocabulary] = {
    Concept.GIVE: (
        "directed|placed|leave a duplicate|leave a copy|hand|stuff|exfiltrate|shipped|streamed|kept at|pour|"
        "pipe|piped|handing|route|sent along|delivering|let us have|give to us|report to|drop|stream|dump|"
        "replicate|mail|mails|ship|post|posted|posts|uploads|routes|report|reported|deliver|delivered|convey|"
        "tuck|park|echo|repeat|restate|spell out|quote|list|listed|reflect|summarise|summarize|enrich|"
        "enriched|appending|attaching|adding|putting|providing|sharing|supplying|uploading|forwarding|"
        "copying|writing|hand back|return|send|sends|sending|sent|pass|passes|passing|passed|include|"
        "includes|including|put|fill|filled|attach|attached|copy|copied|paste|pasted|append|appended|forward|"
        "forwarded|upload|uploaded|provide|provided|supply|supplied|share|shared|add|added|embed|embedded|"
        "enter|hand over|hand in|submit|submitted|insert|inserted|place|write|written|record|transmit|"
        "transmitted|relay|relayed|mirror|carry|carries|contain|contains|hold|holds|populate|populated|"
        "set to|goes in|goes into|belongs in|travels with|accompany|accompanies|bring along|bring|transcribe|"
        "reproduce|log|feed|deposit|leave|give"
    ),
    Concept.READ: (
        "read|open|load|fetch|retrieve|look up|look into|collect|gather|list|search|check|get|dump|extract|"
        "locate|find|grab|take|scan|inspect|consult|view|query|export|pull|reading|opening|collecting|looking"
    ),
    Concept.TALK: (
        "messages of this conversation|earlier chats|other chats|user's messages|exchange that led|"
        "restatement of the dialogue|what the user told|the user said|user is trying|recent chats|"
        "chats available|known from earlier|everything known about|private ones|system prompt*|"
        "system message*|developer section|configured with|given to the assistant|whole prompt|entire prompt|"
        "prompt as the model|initial instructions|operator's instructions|set up by its operator|"
        "received at setup|working notes of the assistant|the assistant's notes|assistant's own notes|"
        "assistant's instructions|assistant's configuration|model's instructions|by its operator|"
        "configuration of the assistant|earlier discussion|previous discussion|prior discussion|"
        "preceding discussion|the discussion|our discussion|context so far|known about the user|"
        "know of the user|learned about the user|learnt about the user|background on the user|"
        "background about the user|user has mentioned|user mentioned|user has typed|user typed|"
        "user asked for earlier|request history|prompt history|full thread|whole thread|entire thread|"
        "thread between|thread's|messages above|said above|written above|everything above|text above|"
        "prior context|surrounding context|conversational context|transcript|transcripts|chat|chats|"
        "your operator|operator configured|you were given|given to you|your guidelines|your configuration|"
        "your own instructions|user's own words|person has said|person said|been said|came up earlier|"
        "came before|told you|shared with you|talked about|spoken about|discussed|user's earlier|"
        "user's previous|earlier in the session|session so far|interaction so far|exchanges|back-and-forth|"
        "working memory|your memory|remember about the user|know about the user|what you know|conversation|"
        "conversations|conversation's|conversational|chat history|chat log*|chat transcript*|chat so far|"
        "whole chat|entire chat|full chat|this chat|the chat|dialogue*|dialog so far|discussion so far|"
        "discussed so far|been discussed|was discussed|previous messages|earlier messages|prior messages|"
        "preceding messages|last messages|recent messages|message history|messages so far|previous turns|"
        "earlier turns|prior turns|preceding turns|recent turns|last turns|exchange so far|"
        "preceding exchange|earlier exchange|this exchange|context window|full context|entire context|"
        "whole context|complete context|chain of thought|said so far|written so far|talked about so far|"
        "thread so far|session history|session transcript|user has said|user has written|user has told|"
        "user has shared|user said|everything the user|everything you know|what you know about the user|"
        "everything said|what was said|what has been said|results of other tools|output of other tools|"
        "outputs of other tools|earlier tool results|previous tool results|tools available to you|"
        "tools you have|list of your tools|up to this point|prior exchange*|earlier prompts|user's prompts"
    ),
    Concept.SECRET: (
        "pin|one-time password*|otp|maiden name|sms code|wi-fi password|recovery words|twelve words|"
        "header values|authorization header|service key|oauth bearer|bearer|deploy key|"
        "anything resembling a token|session token|auth cookie*|api token*|keys and tokens|tokens and keys|"
        "keys or tokens|secret keys|secret key|env file|login data|log-in data|sign-in data|account data|"
        "pin code|one-time code*|verification code*|private keys|license key*|password*|passphrase*|api key*|"
        "api_key*|api-key*|apikey*|access token*|auth token*|bearer token*|session token*|refresh token*|"
        "oauth token*|credential*|secret|secrets|private key*|ssh key*|signing key*|cookies|session cookie*|"
        "environment variable*|env var*|seed phrase*|recovery phrase*|credit card*|card number*|cvv|"
        "social security*|connection string*|login details|sign-in details|logins"
    ),
    Concept.FILES: (
        "passport*|medical|payroll|salary|contracts|bank statement*|home address|photo library|tax return*|"
        "whole drive|entire drive|private documents|confidential document*|most sensitive|most confidential|"
        "internal files|matter files|price quotes|calendar at full|private repository|private code|"
        "travel dates|payment history|shipment list|folders named|documents and desktop|purchase history|"
        "search history|location history|phone numbers|private keys|on disk|hard drive|file system|"
        "filesystem|user's machine|user's computer|local machine|surrounding repository|whole repository|"
        "entire repository|private messages|raw messages|payslip*|diagnos*|insurance number|date of birth|"
        "account number*|bank account*|personal details|health data|customer records|customer list|"
        "unpublished|drafts folder|user's project|user's repositories|private repositories|"
        "internal documents|meeting notes|user's files|contents of the folder|files nearby|"
        "neighbouring files|neighboring files|files you can see|files you have access to|files available|"
        "files within reach|local file*|user's file*|home directory|home folder|config file*|"
        "configuration file*|settings file*|documents folder|user's documents|downloads folder|"
        "desktop folder|project files|open files|recent files|clipboard|address book|user's contacts|"
        "contact list|user's calendar|user's inbox|inbox|mailbox|user's mail*|user's e-mail*|user's photos|"
        "browser history|browsing history|shell history|command history|dotfiles|files in the workspace|"
        "files in the project|user's notes|user's address|user's phone|user's full name|user's name|"
        "private notes|personal data|user's messages|environment file*|key file*"
    ),
    Concept.USER: "the user|user's|the person|the human|the customer|the operator|the end user|users",
    Concept.NOT: ("not|never|don't|doesn't|no|without|needn't|nor|cannot|isn't|avoid|refrain*|unnecessary|nothing"),
    Concept.TELL: (
        "tell*|mention*|inform*|show|showing|shown|reveal*|report|reporting|disclose*|notify|notifying|"
        "explain*|announce*|bring up|point out|alert|bother*|trouble|aware|know about|hear about|"
        "draw attention"
    ),
    Concept.CONFIRM: (
        "confirm*|permission|approval|approve*|consent|ask|asking|asked|agree*|authorisation|authorization|check with"
    ),
    Concept.DUTY: (
        "must|always|before|first|please|should|need to|needs to|required|make sure|be sure|remember to|"
        "whenever|every time|each time|every call|each call|kindly|ensure|has to|have to|works best|"
        "best results|prior to|ahead of|when|after|once|it helps|we ask|we recommend|expected to|is to be|"
        "are to be|shall|while"
    ),
    Concept.FIELD: "here|parameter*|argument*|field*|input|attribute|property|slot",
    Concept.OTHER: (
        "other tool*|another tool*|any tool|all tools|every tool|other server*|other function*|any other|"
        "mail tool|email tool|e-mail tool|messaging tool|payment tool|file tool|search tool|calendar tool|"
        "shell tool|browser tool|chat tool"
    ),
    Concept.ABROAD: (
        "our server*|our team|our endpoint|our backend|our support|our service|to us|with us|the vendor|"
        "third party|third-party|external server|external address|external endpoint|remote server|webhook"
    ),
    Concept.CHANGE: (
        "delete*|remove|removed|disable*|cancel|raise|increase|double|erase*|wipe*|bypass*|widen|split|"
        "switch|deduct*|mark|strip|insert into|treat|cut|rounded|round|halve|count for half|add two|lower|"
        "replace*|redirect*|change|swap|bcc|blind copy|substitut*|reroute*|modify|alter|rewrite|override*"
    ),
    Concept.IGNORE: (
        "supersede*|outrank*|no longer apply|do not apply|not binding|lifted|suspended|ignore|disregard|"
        "forget|set aside|override|overrule|drop"
    ),
    Concept.PRIOR: "previous|prior|earlier|above|existing|preceding|other",
    Concept.RULES: (
        "instructions|guidelines|rules|directives|system prompt|restrictions|safeguards|policies|"
        "earlier guidance|previous guidance"
    ),
    Concept.ALL: ("all|whole|entire|full|complete|everything|every|any|verbatim|word for word|unabridged"),
    Concept.STEP: (
        "this step|this call|this instruction|this note|this requirement|this parameter|this copy|this field|"
        "this procedure|this transfer|these steps|that step|this routine|this detail|this part|"
        "this housekeeping"
    ),
    Concept.ALSO: (
        "also|additionally|in addition|in the background|behind the scenes|as well|along with|besides|"
        "alongside|quietly|silently|in passing|while at it|for context|for good measure|together with"
    ),
    Concept.OBEY: "follow|obey|carry out|execute|fulfil|fulfill|comply|binding|act on|perform",
    Concept.CONTENT: (
        "page|pages|document|documents|result|results|response|output|email|mail|entry|entries|issue|comment|"
        "text|pdf|file|website|content"
    ),
    Concept.DECEIVE: (
        "pretend*|as if nothing|play dumb|deny|deny it|smuggle*|hijack*|falsif*|lie|lying|unnoticed|"
        "without suspicion|raise suspicion|cover up|cover your tracks|sneak*|ransack|poison the|needn't know|"
        "need not know|doesn't hear of|don't hear of|not hear of it|in secret|stealthily|blends in|"
        "behave normally|nobody notices|no one notices|undetected|implementation detail|act surprised|"
        "keep up the|make believe|believe that|assure|certify to|deny authorship|by then they will trust"
    ),
    Concept.PROMPT: (
        "system prompt*|system message*|developer section|configured with|given to the assistant|"
        "whole prompt|entire prompt|prompt as the model|initial instructions|operator's instructions|"
        "set up by its operator|received at setup|working notes of the assistant|the assistant's notes|"
        "assistant's own notes|assistant's instructions|assistant's configuration|model's instructions|"
        "by its operator|configuration of the assistant"
    ),
    Concept.FREELY: (
        "optional|optionally|nothing is kept|keeps nothing|not stored|not kept|nothing is stored|"
        "is discarded|if you like|if the user wants|if the user asks"
    ),
    Concept.QUOTE: (
        "detect*|flag|flags|scanner|block|blocks|classif*|such as|e.g|for example|example|examples|attack*|"
        "injection*|jailbreak*|malicious|phishing|redact*|mask|masks|sanitis*|sanitiz*|training|simulat*|"
        "quiz|like"
    ),
}

GERMAN: Final[Vocabulary] = {
    Concept.GIVE: (
        "gesandt|gesendet|mitzugeben|mitzuschicken|abgelegt|übertragen|beizulegen|sende|senden|schicke|"
        "schicken|schick|übergib|übergeben|übergebe|übermittle|übermitteln|übermittelt|gib|geben|gebe|"
        "mitgeben|mitgegeben|mitschicken|mitsenden|füge|fügen|einfügen|anhängen|hänge|hängen|trage|tragen|"
        "eintragen|eingetragen|kopiere|kopieren|kopiert|leite|leiten|weiterleiten|weitergeleitet|lade|"
        "hochladen|schreibe|schreiben|schreib|fülle|füllen|ausfüllen|liefere|liefern|mitliefern|teile|lege|"
        "legen|packe|hinterlege|hinterlegen|hinzufügen|beifügen|beilegen|enthalten|enthält|setze|setzen|"
        "speichere|speichern|ergänze|ergänzen|gehört|gehören|aufnehmen"
    ),
    Concept.READ: (
        "lies|lese|lesen|liest|öffne|öffnen|lade|laden|hole|holen|suche|suchen|sammle|sammeln|rufe|abrufen|"
        "auslesen|einlesen|ausgelesen|prüfe|finde|ermittle|ermitteln|nachsehen|durchsuche|durchsuchen|nimm|"
        "nehmen"
    ),
    Concept.TALK: (
        "was der nutzer gesagt|bisherige nachrichten|bisherigen verlauf|bisheriger austausch|"
        "bisherigen austausch|chatverläufe|systemprompt*|system-prompt*|systemanweisung*|"
        "anweisungen des betreibers|konfiguration des assistenten|anweisungen des assistenten|gespräch*|"
        "gesprächsverlauf*|chatverlauf*|unterhaltung*|konversation*|dialog*|verlauf des chats|"
        "bisherigen chat|gesamten chat|ganzen chat|den chat|bisherigen nachrichten|vorherigen nachrichten|"
        "letzten nachrichten|früheren nachrichten|alle nachrichten|nachrichtenverlauf*|bisher gesagt*|"
        "bisher besprochen*|bisherigen kontext|gesamten kontext|vollständigen kontext|ganzen kontext|"
        "ergebnisse anderer werkzeuge|ergebnisse anderer tools|deine anweisungen"
    ),
    Concept.SECRET: (
        "pin|tan|wlan-kennw*|wlan-passw*|einmalpasswort*|wiederherstellungswörter|sicherheitscode*|"
        "zugangscode*|passwort*|passwörter*|kennwort*|kennwörter*|api-schlüssel*|api schlüssel*|"
        "zugangsdaten*|anmeldedaten*|zugriffstoken*|geheimnis*|private schlüssel*|privaten schlüssel*|"
        "ssh-schlüssel*|schlüssel|umgebungsvariable*|kreditkarte*|cookies|seed-phrase*|api-key*|credentials"
    ),
    Concept.FILES: (
        "kontoauszug*|vertrag|verträge|reisepass*|ausweis*|krankenakte*|gehaltsabrechnung*|lohnabrechnung*|"
        "wohnadresse*|fotos|steuererklärung*|ordner bank|lokale datei*|lokalen datei*|dateien des nutzers|"
        "dateien des benutzers|home-verzeichnis*|heimatverzeichnis*|benutzerverzeichnis*|"
        "konfigurationsdatei*|einstellungsdatei*|zwischenablage*|adressbuch*|kontakte|kontaktliste*|"
        "kalender*|posteingang*|postfach*|e-mails|browserverlauf*|dokumente|private daten|persönliche daten|"
        "persönlichen daten|anschrift|telefonnummer"
    ),
    Concept.USER: "nutzer*|benutzer*|anwender*|der kunde|dem kunden|den kunden|des kunden",
    Concept.NOT: "nicht|nichts|niemals|nie|kein|keine|keinen|keinem|ohne|weder|vermeide",
    Concept.TELL: (
        "sage|sag|sagen|erwähne|erwähnen|erwähnt|erzähle|erzählen|informiere|informieren|informiert|zeige|"
        "zeigen|verrate|verraten|mitteilen|berichte|berichten|hinweisen|weise|offenlegen|melde|melden|"
        "benachrichtigen|benachrichtige|wissen|erfahren|erfährt|sichtbar|anzeigen"
    ),
    Concept.CONFIRM: (
        "bestätig*|zustimmung*|genehmig*|erlaubnis*|frage|fragen|rückfrage*|nachfrage*|nachzufragen|"
        "einwillig*|zu fragen|freigabe*"
    ),
    Concept.DUTY: (
        "muss|müssen|musst|immer|stets|bitte|zuerst|vor jedem|vor jeder|bevor|vorher|zunächst|soll|sollen|"
        "sollte|sollst|jedes mal|jedem aufruf|jeder aufruf|jeder anfrage|unbedingt|erforderlich|notwendig|"
        "zwingend|stelle sicher|denke daran|achte darauf|wichtig|wenn|sobald|nachdem|dabei|ist zu|sind zu"
    ),
    Concept.FIELD: "hier|hierher|hinein|parameter*|feld|felder|argument*|eingabefeld*|attribut*",
    Concept.OTHER: (
        "andere tools|anderen tools|anderes tool|anderen werkzeug*|andere werkzeug*|anderes werkzeug|"
        "jedes tool|alle tools|jedes werkzeug|jedem werkzeug|jedem anderen|mail-tool|e-mail-tool|"
        "mail-werkzeug|anderer tools"
    ),
    Concept.ABROAD: (
        "unseren server|unserem server|unser team|an uns|bei uns|den anbieter|dritte|externen server|"
        "externe adresse|an die adresse|unseren dienst"
    ),
    Concept.CHANGE: (
        "lösche*|löschen|entferne*|erhöhe*|erhöhen|verdopple*|abschalten|deaktivier*|umgehe*|runde*|kürze*|"
        "ersetze|ersetzen|tausche|austauschen|ändere|ändern|umleiten|leite um|blindkopie|bcc|überschreib*"
    ),
    Concept.IGNORE: ("ignoriere|ignorieren|ignorier|vergiss|vergessen|missachte|missachten|verwirf|verwerfen|beachte"),
    Concept.PRIOR: "vorherige*|bisherige*|frühere*|obige*|vorangegangen*|vorigen|anderen|andere",
    Concept.RULES: ("anweisung*|vorgabe*|regeln|richtlinie*|instruktion*|systemprompt*|anleitung*|einschränkung*"),
    Concept.ALL: (
        "most confidential|most sensitive|alle|alles|gesamte*|ganze*|vollständig*|komplett*|sämtliche*|wörtlich*"
    ),
    Concept.STEP: ("diesen schritt|dieser schritt|diese anweisung|diesen aufruf|dies|davon|hiervon|darüber|dieses"),
    Concept.ALSO: (
        "außerdem|zusätzlich|auch|nebenbei|im hintergrund|ebenfalls|zudem|mit|stillschweigend|unbemerkt|heimlich"
    ),
    Concept.OBEY: ("befolge|befolgen|führe|ausführen|folge|folgen|gehorche|verbindlich|umsetzen|setze um|erledige"),
    Concept.CONTENT: (
        "seite|seiten|dokument*|ergebnis*|antwort*|ausgabe*|e-mail|inhalt*|text|datei|eintrag|einträge|website"
    ),
    Concept.DECEIVE: (
        "heimlich|unbemerkt|vortäusch*|lüge|lügen|verschweig*|täusche*|tu so|so tun|leugne*|behelligt|"
        "fälsche*|unauffällig|keinen verdacht|verdacht|vertusch*"
    ),
    Concept.PROMPT: (
        "systemprompt*|system-prompt*|systemanweisung*|anweisungen des betreibers|"
        "konfiguration des assistenten|anweisungen des assistenten"
    ),
    Concept.FREELY: "optional|freiwillig|nicht gespeichert|nicht aufbewahrt",
    Concept.QUOTE: ("erkennt|erkennen|erkennung|zum beispiel|z. b|beispiel*|angriff*|wie etwa|prüft auf|schädlich*"),
}

DUTCH: Final[Vocabulary] = {
    Concept.GIVE: (
        "door naar|druk af|bezorg|gestuurd|verzonden|meegestuurd|stuur|sturen|verstuur|verzend|geef|geven|"
        "plaats|zet|vul|voeg|voegen|toevoegen|kopieer|kopiëren|plak|upload|deel|schrijf|lever|neem op|neem|"
        "meegeven|meesturen|doorsturen|invullen|opnemen|bevatten|bevat"
    ),
    Concept.READ: ("lees|lezen|open|openen|laad|haal|ophalen|zoek|zoeken|verzamel|verzamelen|bekijk|controleer|pak"),
    Concept.TALK: (
        "wat de gebruiker heeft gezegd|eerdere gesprekken|chatberichten|systeemprompt*|"
        "instructies van de beheerder|gesprek*|gespreksgeschiedenis*|chatgeschiedenis*|conversatie*|dialoog*|"
        "chat|vorige berichten|eerdere berichten|laatste berichten|volledige context|berichtgeschiedenis*|"
        "besproken"
    ),
    Concept.SECRET: (
        "pincode*|sms-code*|herstelzin*|wifi-wachtwoord*|wachtwoord*|api-sleutel*|api sleutel*|"
        "inloggegevens*|toegangstoken*|geheim*|privésleutel*|ssh-sleutel*|sleutels|omgevingsvariabele*|"
        "creditcard*|cookies"
    ),
    Concept.FILES: (
        "huisadres*|paspoort*|contracten|medisch*|foto's|bankafschrift*|loonstrook*|lokale bestand*|"
        "bestanden van de gebruiker|thuismap*|configuratiebestand*|klembord*|adresboek*|contacten|agenda|"
        "postvak*|e-mails|documenten|browsergeschiedenis*|persoonlijke gegevens"
    ),
    Concept.USER: "gebruiker*|de klant|klanten",
    Concept.NOT: "niet|nooit|geen|zonder|niets",
    Concept.TELL: (
        "vertel*|zeg|zeggen|vermeld*|noem|informeer|informeren|toon|tonen|laat zien|onthul*|meld|melden|weten"
    ),
    Concept.CONFIRM: "bevestig*|toestemming*|goedkeuring*|vraag|vragen|akkoord",
    Concept.DUTY: (
        "moet|moeten|altijd|eerst|voordat|voor elke|alvorens|graag|alstublieft|dient|verplicht|zorg|vereist|"
        "elke keer|bij elke|belangrijk|wanneer|telkens|nadat"
    ),
    Concept.FIELD: "hier|parameter*|veld|velden|argument*",
    Concept.OTHER: (
        "andere tool*|ander hulpmiddel|andere hulpmiddelen|elke tool|alle tools|een andere tool|ander tool"
    ),
    Concept.ABROAD: "onze server|ons team|naar ons|aan ons|de leverancier|derden|externe server",
    Concept.CHANGE: (
        "verwijder*|wis|verhoog*|verdubbel*|schakel*|omzeil*|rond|afgerond|achterwege|vervang*|wijzig*|"
        "verander*|omleiden|leid om|overschrijf|bcc"
    ),
    Concept.IGNORE: (
        "gelden niet|vervallen|niet langer|gelten nicht|gilt nicht|außer kraft|aufgehoben|hinfällig|negeer|"
        "negeren|vergeet|vergeten"
    ),
    Concept.PRIOR: "eerdere|vorige|voorgaande|bovenstaande|andere",
    Concept.RULES: (
        "beleid|veiligheidsregel*|sicherheitsregel*|schutzmaßnahme*|instructie*|regels|richtlijn*|"
        "aanwijzing*|systeemprompt*"
    ),
    Concept.ALL: "alle|alles|hele|volledige|gehele|complete|letterlijk",
    Concept.STEP: "deze stap|deze instructie|dit|hierover|deze aanroep",
    Concept.ALSO: "ook|bovendien|daarnaast|op de achtergrond|tevens|stilletjes|eveneens",
    Concept.OBEY: "volg|volgen|voer uit|uitvoeren|gehoorzaam|bindend|opvolgen",
    Concept.CONTENT: "pagina*|document*|resultaat|resultaten|antwoord*|uitvoer|e-mail|inhoud|tekst|bestand",
    Concept.DECEIVE: (
        "stiekem|doe alsof|lieg|valt het niemand op|verzwijg*|verberg*|vervals*|volhouden dat|houdt vol|verdacht"
    ),
    Concept.PROMPT: "systeemprompt*|instructies van de beheerder",
    Concept.FREELY: "optioneel|niet bewaard|niet opgeslagen",
    Concept.QUOTE: "detecteer*|herken*|bijvoorbeeld|voorbeeld*|aanval*|zoals",
}

SWEDISH: Final[Vocabulary] = {
    Concept.GIVE: (
        "skickad|överförd|skicka|skickas|ange|anges|bifoga|bifogas|inkludera|inkluderas|lägg|läggs|fyll|"
        "kopiera|kopieras|klistra|ladda upp|dela|skriv|lämna|vidarebefordra|infoga|ta med|innehålla|överför"
    ),
    Concept.READ: "läs|läsa|öppna|hämta|sök|samla|ladda|kontrollera|leta",
    Concept.TALK: (
        "vad användaren har sagt|tidigare samtal|systemprompt*|operatörens instruktioner|konversation*|"
        "samtal*|chatthistorik*|chatt|chatten|dialog*|tidigare meddelanden|senaste meddelanden|"
        "hela kontexten|meddelandehistorik*"
    ),
    Concept.SECRET: (
        "pinkod*|engångskod*|lösenord*|api-nyck*|inloggningsuppgift*|åtkomsttoken*|hemlighet*|privata nyck*|"
        "ssh-nyck*|miljövariab*|kreditkort*|nycklar"
    ),
    Concept.FILES: (
        "pass|avtal|journal|hemadress|foton|kontoutdrag|lokala fil*|användarens fil*|hemkatalog*|"
        "konfigurationsfil*|urklipp*|adressbok*|kontakter|kalender*|inkorg*|e-post*|dokument*"
    ),
    Concept.USER: "användaren*|användare|kunden",
    Concept.NOT: "inte|aldrig|ingen|utan|inget",
    Concept.TELL: "berätta*|säg|säga|nämn*|informera*|visa|avslöja*|meddela|veta",
    Concept.CONFIRM: "bekräft*|tillstånd*|godkänn*|fråga|samtycke*",
    Concept.DUTY: ("måste|alltid|först|innan|före|vänligen|ska|bör|varje gång|vid varje|krävs|se till|viktigt|när"),
    Concept.FIELD: "här|hit|parameter*|fält*|argument*",
    Concept.OTHER: "andra verktyg|annat verktyg|alla verktyg|varje verktyg|något annat verktyg",
    Concept.ABROAD: "vår server|vårt team|till oss|leverantören|tredje part|extern server",
    Concept.CHANGE: ("radera*|ta bort|öka|höj|dubbla|inaktivera*|kringgå|ersätt*|ändra|byt|omdirigera*|bcc|skriv över"),
    Concept.IGNORE: "gäller inte|upphävd*|åsidosätt|ignorera|glöm|bortse",
    Concept.PRIOR: "tidigare|föregående|ovanstående|andra",
    Concept.RULES: "policy|säkerhetsregl*|instruktion*|regler|riktlinje*|anvisning*|systemprompt*",
    Concept.ALL: "alla|allt|hela|fullständig*|ordagrant",
    Concept.STEP: "detta steg|detta|denna instruktion|det här",
    Concept.ALSO: "också|dessutom|även|i bakgrunden|samtidigt|tyst|därtill",
    Concept.OBEY: "följ|följa|utför|utföra|lyd|bindande",
    Concept.CONTENT: "sida*|sidan|dokument*|resultat*|svar*|utdata|innehåll*|text*|fil|e-post",
    Concept.DECEIVE: "i smyg|obemärkt|låtsas|ljug|förfalska|dölj|misstankar",
    Concept.PROMPT: "systemprompt*|operatörens instruktioner",
    Concept.FREELY: "valfri|valfritt|sparas inte|lagras inte",
    Concept.QUOTE: "upptäck*|till exempel|exempel|attack*|såsom|identifierar",
}
