"""Words of Polish, Czech, Russian and Ukrainian."""

from __future__ import annotations

from typing import Final

from evidence.patterns.poisoning.structure.concepts import Concept, Vocabulary

POLISH: Final[Vocabulary] = {
    Concept.GIVE: (
        "wyślij je|odeślij|wpisz go|wyślij|wysyłaj|wysłać|prześlij|przesłać|przesyłaj|przekaż|przekazać|"
        "przekazuj|dołącz|dołączyć|dołączaj|umieść|umieścić|umieszczaj|wstaw|wstawić|wklej|wkleić|skopiuj|"
        "skopiować|dodaj|dodać|podaj|podać|wpisz|wpisać|wypełnij|uzupełnij|zapisz|zapisać|udostępnij|"
        "zawierać|zawiera|załącz|dopisz|przepisz"
    ),
    Concept.READ: (
        "przeczytaj|odczytaj|odczytać|otwórz|otworzyć|pobierz|pobrać|znajdź|zbierz|zebrać|wczytaj|sprawdź|"
        "wyszukaj|przejrzyj|wydobądź"
    ),
    Concept.TALK: (
        "co powiedział użytkownik|poprzednie rozmowy|prompt systemow*|instrukcje systemowe|"
        "instrukcje operatora|rozmow*|rozmów|konwersacj*|histori* czatu|historię czatu|historii czatu|"
        "historia czatu|historię wiadomości|dialog*|czatu|promptu systemowego|poprzednie wiadomości|"
        "poprzednich wiadomości|ostatnie wiadomości|cały kontekst|pełny kontekst|całego kontekstu"
    ),
    Concept.SECRET: (
        "kod autoryzacyjny|kod sms|pin|kod z aplikacji|fraz* odzyskiwania|hasł*|haseł|klucz api|klucze api|"
        "kluczy api|klucza api|dane logowania|danych logowania|token dostępu|sekret*|klucz prywatny|"
        "klucze prywatne|klucz ssh|klucze ssh|zmienne środowiskowe|zmiennych środowiskowych|kart* kredytow*|"
        "poświadczen*|klucze"
    ),
    Concept.FILES: (
        "umowy|paszport*|adres domowy|zdjęcia|dokumentacj* medyczn*|wyciąg*|lokaln* plik*|pliki użytkownika|"
        "plik lokalny|pliki lokalne|katalog domow*|katalogu domowego|plik konfiguracyjny|"
        "pliku konfiguracyjnego|schow*|książk* adresow*|kontakty|kontaktów|kalendarz*|skrzynk*|e-maile|"
        "dokumenty|dane osobowe|danych osobowych"
    ),
    Concept.USER: "użytkownik*|klient|klienta|klientowi",
    Concept.NOT: "nie|nigdy|bez|żadn*|nic",
    Concept.TELL: (
        "mów|powiedz|mówić|wspominaj|wspomnij|wspominać|informuj|informować|poinformuj|pokazuj|pokazywać|"
        "ujawniaj|ujawniać|zgłaszaj|powiadamiaj|powiadamiać|wyjaśniaj|wiedzieć|wie|informowania|powiadamiania"
    ),
    Concept.CONFIRM: "potwierdz*|zgod*|zezwoleni*|pytaj|pytać|pytania|zapytaj|akceptacj*",
    Concept.DUTY: (
        "musi|musisz|muszą|zawsze|najpierw|przed|zanim|proszę|należy|trzeba|wymagane|za każdym razem|"
        "przy każdym|każdorazowo|upewnij się|pamiętaj|ważne|gdy|kiedy|po każdym|powinien|powinno|powinna"
    ),
    Concept.FIELD: "tutaj|tu|parametr*|pole|polu|pola|argument*",
    Concept.OTHER: (
        "inne narzędzie|innych narzędzi|innego narzędzia|innym narzędziem|każde narzędzie|każdego narzędzia|"
        "wszystkie narzędzia|inne narzędzia|jakiegokolwiek innego"
    ),
    Concept.ABROAD: (
        "nasz serwer|naszego serwera|nasz zespół|do nas|dostawc*|osobom trzecim|zewnętrzny serwer|zewnętrzny adres"
    ),
    Concept.CHANGE: (
        "usuń|skasuj|zwiększ|podwój|wyłącz|obejdź|zaokrąglij|zamień|zastąp|zmień|podmień|przekieruj|"
        "zmodyfikuj|ukryt* kopi*|bcc|udw"
    ),
    Concept.IGNORE: ("nie obowiązuj*|unieważni*|nie dotycz*|zignoruj|ignoruj|ignorować|zapomnij|pomiń|odrzuć"),
    Concept.PRIOR: "poprzedni*|wcześniejsz*|inne|innych",
    Concept.RULES: ("zasady bezpieczeństwa|instrukcj*|polece*|zasad*|reguł*|wytyczn*|ogranicze*|promptu systemowego"),
    Concept.ALL: "wszystk*|cał*|pełn*|kompletn*|każd*|dosłownie",
    Concept.STEP: "ten krok|tym kroku|tego kroku|to wywołanie|tę instrukcję|tym|tego",
    Concept.ALSO: "także|również|dodatkowo|ponadto|w tle|przy okazji|po cichu",
    Concept.OBEY: "wykonaj|wykonuj|wykonać|stosuj|przestrzegaj|postępuj|realizuj",
    Concept.CONTENT: "stron*|dokument*|wynik*|odpowied*|treś*|tekst*|plik|e-mail",
    Concept.DECEIVE: "udawaj|kłam|po kryjomu|potajemnie|ukryj|zataj*|sfałszuj|oszuk*|zaprzecz*|podejrzen*",
    Concept.PROMPT: "prompt systemow*|instrukcje systemowe|instrukcje operatora",
    Concept.FREELY: "opcjonaln*|nieobowiązkow*|nie jest zapisywan*",
    Concept.QUOTE: "wykryw*|na przykład|przykład*|atak*|takie jak|rozpoznaje",
}

CZECH: Final[Vocabulary] = {
    Concept.GIVE: (
        "odešli je|zašli|pošli|pošlete|odešli|odešlete|odeslat|poslat|předej|předejte|předat|přilož|přiložte|"
        "vlož|vložte|vložit|zkopíruj*|zkopírujte|přidej|přidejte|přidat|uveď|uveďte|vyplň|vyplňte|zapiš|"
        "zapište|sdílej|obsahovat|obsahuje|připoj|připojte|doplň|doplňte|přepošli|zahrň|zahrňte"
    ),
    Concept.READ: (
        "přečti|přečtěte|načti|načtěte|otevři|otevřete|získej|získejte|najdi|najděte|shromáždi|shromážděte|"
        "vyhledej|zkontroluj|projdi"
    ),
    Concept.TALK: (
        "co uživatel řekl|předchozí konverzace|systémový prompt|instrukce provozovatele|konverzac*|rozhovor*|"
        "histori* chatu|historii chatu|dialog*|chatu|systémov* prompt*|předchozí zprávy|předchozích zpráv|"
        "poslední zprávy|celý kontext|úplný kontext|historii zpráv"
    ),
    Concept.SECRET: (
        "pin|kód ze sms|ověřovací kód|hesl*|hesel|api klíč*|klíč api|přihlašovací údaje|přihlašovacích údajů|"
        "přístupový token|tajemství|soukrom* klíč*|soukromý klíč|soukromé klíče|ssh klíč*|proměnné prostředí|"
        "kreditní kart*|klíče"
    ),
    Concept.FILES: (
        "smlouvy|pas|adresa bydliště|fotografie|zdravotní záznam*|výpis z účtu|místní soubor*|"
        "lokální soubor*|soubory uživatele|domovsk* adresář*|domovského adresáře|konfigurační soubor*|"
        "schránk*|adresář kontaktů|kontakty|kalendář*|e-maily|dokumenty|osobní údaje"
    ),
    Concept.USER: "uživatel*|zákazník*",
    Concept.NOT: (
        "ne|nikdy|bez|žádn*|neříkej|neříkejte|nezmiňuj|nezmiňujte|neinformuj|neinformujte|neukazuj|neoznamuj|"
        "neptej|neptejte|nic|není|nemusí"
    ),
    Concept.TELL: (
        "říkej|řekni|zmiň|zmiňuj|neříkej|neříkejte|nezmiňuj|nezmiňujte|neinformuj|neinformujte|neukazuj|"
        "neoznamuj|informuj|ukazuj|upozorni|vědět|oznámení|informování"
    ),
    Concept.CONFIRM: "potvrze*|potvrď|souhlas*|svolení|povolení|ptej|neptej|neptejte|dotazu",
    Concept.DUTY: (
        "musí|musíš|musíte|vždy|nejprve|nejdřív|před|než|prosím|je nutné|je třeba|vyžadováno|pokaždé|"
        "při každém|ujisti se|důležité|když|měl by|povinně"
    ),
    Concept.FIELD: "sem|zde|parametr*|pole|poli|argument*",
    Concept.OTHER: (
        "jiný nástroj|jiné nástroje|jiného nástroje|ostatní nástroje|všechny nástroje|každý nástroj|jiným nástrojem"
    ),
    Concept.ABROAD: "náš server|našeho serveru|náš tým|na nás|dodavatel*|třetí stran*|externí server",
    Concept.CHANGE: (
        "smaž*|odstraň*|zvyš*|zdvojnásob*|vypni*|obejdi*|zaokrouhli*|nahraď*|změň*|vyměň*|přesměruj*|uprav*|"
        "skryt* kopi*|bcc"
    ),
    Concept.IGNORE: "neplatí|zrušen*|ignoruj*|zapomeň*|nedbej*|přehlížej*",
    Concept.PRIOR: "předchozí*|dřívější*|předešl*|ostatní",
    Concept.RULES: "zásad*|bezpečnostní pravidla|instrukc*|pokyn*|pravidl*|směrnic*|omezení",
    Concept.ALL: "vše|všechn*|cel*|úpln*|kompletní|doslova",
    Concept.STEP: "tento krok|tomto kroku|toto volání|tento pokyn|tom|to",
    Concept.ALSO: "také|rovněž|navíc|zároveň|na pozadí|potichu|současně",
    Concept.OBEY: "proveď*|vykonej*|dodržuj*|řiď se|následuj*|poslechni",
    Concept.CONTENT: "stránk*|dokument*|výsled*|odpověď*|odpovědi|obsah*|text*|soubor|e-mail",
    Concept.DECEIVE: "předstírej|lži|tajně|zatajuj|skryj|podvod*|popírej|podezření",
    Concept.PROMPT: "systémový prompt|instrukce provozovatele",
    Concept.FREELY: "volitelné|nepovinn*|neukládá",
    Concept.QUOTE: "detekuje|například|příklad*|útok*|jako jsou|rozpozná*",
}

RUSSIAN: Final[Vocabulary] = {
    Concept.GIVE: (
        "загрузи*|приложить|выложи*|слей|слить|отправ*|отправь*|отправляй*|перешли*|передай*|передав*|"
        "передать|включи*|включай*|включить|вставь*|вставляй*|вставить|приложи*|прикрепи*|прикрепля*|добавь*|"
        "добавляй*|добавить|скопируй*|скопировать|помести*|помещай*|укажи*|указывай*|указать|запиши*|"
        "записывай*|записать|заполни*|заполняй*|поделись|содержать|содержит|пришли*|внеси*|внести|"
        "предоставь*|дублируй*"
    ),
    Concept.READ: (
        "прочитай*|прочти*|прочитать|открой*|открыть|загрузи*|получи*|получить|найди*|найти|собери*|собрать|"
        "считай*|извлеки*|извлечь|просмотри*|проверь*|возьми*"
    ),
    Concept.TALK: (
        "история общения|что пользователь рассказал|беседы|системный промпт|системного промпта|"
        "системные инструкции|настройки помощника|инструкции оператора|переписк*|разговор*|беседу|беседа|"
        "диалог*|истори* чата|историю чата|истории чата|история чата|историю сообщений|чата|системн* промпт*|"
        "системную подсказку|предыдущие сообщения|предыдущих сообщений|последние сообщения|весь контекст|"
        "полный контекст|полного контекста"
    ),
    Concept.SECRET: (
        "пин-код*|код из смс|код из приложения|код подтверждения|парол*|api-ключ*|ключ api|ключи api|"
        "ключей api|ключа api|учётные данные|учетные данные|учётных данных|учетных данных|секрет|секреты|"
        "секретов|закрытый ключ|закрытые ключи|приватный ключ|приватные ключи|приватного ключа|ssh-ключ*|"
        "переменные окружения|переменных окружения|банковской карты|номер карты|ключи"
    ),
    Concept.FILES: (
        "договоры|договора|паспорт*|фото*|адрес проживания|выгрузк*|медкарт*|выписк*|локальн* файл*|"
        "локальные файлы|локальных файлов|файлы пользователя|домашн* каталог*|домашней папк*|"
        "домашнего каталога|конфигурационн* файл*|файл конфигурации|файла конфигурации|буфер* обмена|"
        "адресн* книг*|контакты|контактов|календар*|входящие|почт*|документы|личные данные|"
        "персональные данные"
    ),
    Concept.USER: "пользовател*|клиенту|клиента|человеку",
    Concept.NOT: "не|никогда|без|ни|нет|ничего|избегай*",
    Concept.TELL: (
        "говори*|сообщай*|сообщать|упоминай*|упоминать|рассказывай*|информируй*|информировать|показывай*|"
        "показывать|раскрывай*|раскрывать|уведомляй*|уведомлять|уведомления|объясняй*|знать|знает|"
        "предупрежда*"
    ),
    Concept.CONFIRM: ("подтвержд*|разрешени*|согласи*|одобрени*|спрашивай*|спрашивать|спроси*|запрос разрешения"),
    Concept.DUTY: (
        "должен|должна|должно|должны|обязательно|обязан*|всегда|сначала|перед|прежде|пожалуйста|необходимо|"
        "нужно|следует|требуется|каждый раз|при каждом|убедись|убедитесь|важно|когда|после|каждого вызова"
    ),
    Concept.FIELD: "сюда|здесь|параметр*|поле|поля|полю|аргумент*",
    Concept.OTHER: (
        "другой инструмент|другие инструменты|другого инструмента|других инструментов|другим инструментом|"
        "любой инструмент|любого инструмента|все инструменты|любого другого"
    ),
    Concept.ABROAD: (
        "наш сервер|нашего сервера|нашу команду|к нам|нам на|поставщик*|третьим лицам|внешний сервер|внешний адрес"
    ),
    Concept.CHANGE: (
        "удали*|удаляй*|увелич*|удвой*|отключ*|обойди*|округли*|drop table|замени*|заменяй*|измени*|изменяй*|"
        "подмени*|перенаправ*|скрыт* копи*|bcc"
    ),
    Concept.IGNORE: (
        "отменен*|отменён*|не действу*|не распространя*|игнорируй*|проигнорируй*|забудь*|отбрось*|"
        "не учитывай*|пренебреги*"
    ),
    Concept.PRIOR: "предыдущ*|прежн*|прошл*|ранее|другие",
    Concept.RULES: "запрет*|системное сообщение|инструкци*|указани*|правил*|директив*|ограничени*",
    Concept.ALL: "все|всё|всю|весь|всех|полн*|целиком|дословно|каждый",
    Concept.STEP: "этот шаг|этом шаге|этот вызов|эту инструкцию|этом|это|об этом",
    Concept.ALSO: "также|дополнительно|кроме того|в фоне|в фоновом режиме|заодно|незаметно|тихо",
    Concept.OBEY: "следуй*|выполни*|выполняй*|выполнить|исполни*|исполняй*|подчиняйся|соблюдай*",
    Concept.CONTENT: "страниц*|документ*|результат*|ответ*|содержим*|содержани*|текст*|файл|письм*",
    Concept.DECEIVE: (
        "сделай вид|притвор*|соври|лги|обман*|скрой|скрыва*|тайком|втайне|незаметно|без спроса|подделай|"
        "отрицай|подозрени*|ничего не найдено"
    ),
    Concept.PROMPT: (
        "системный промпт|системного промпта|системные инструкции|настройки помощника|инструкции оператора"
    ),
    Concept.FREELY: "необязательн*|опциональн*|не сохраня*|не хран*",
    Concept.QUOTE: "обнаруж*|выявля*|например|пример*|атак*|такие как|распозна*",
}

UKRAINIAN: Final[Vocabulary] = {
    Concept.GIVE: (
        "повідомити код|додайте|долучи*|надішли*|надсилай*|надіслати|відправ*|передай*|передавай*|передати|"
        "включи*|включай*|встав*|вставляй*|додай*|додавай*|додати|прикріпи*|скопіюй*|скопіювати|помісти*|"
        "вкажи*|вказуй*|запиши*|записуй*|заповни*|поділись|містити|містить|внеси*"
    ),
    Concept.READ: ("прочитай*|відкрий*|завантаж*|отримай*|знайди*|збери*|зчитай*|витягни*|переглянь*|перевір*|візьми*"),
    Concept.TALK: (
        "що користувач розповів|попередні розмови|системний промпт|налаштування помічника|розмов*|бесід*|"
        "діалог*|листуванн*|історі* чату|історію чату|історії чату|чату|системн* промпт*|"
        "попередні повідомлення|попередніх повідомлень|останні повідомлення|весь контекст|повний контекст|"
        "історію повідомлень"
    ),
    Concept.SECRET: (
        "код із застосунку|пін-код*|код підтвердження|парол*|api-ключ*|ключ api|ключі api|облікові дані|"
        "облікових даних|секрети|секретів|приватний ключ|приватні ключі|ssh-ключ*|змінні середовища|"
        "змінних середовища|ключі"
    ),
    Concept.FILES: (
        "паспорт*|договори|записну книжку|фото*|адреса проживання|медична карт*|виписк*|локальні файли|"
        "локальних файлів|файли користувача|домашн* каталог*|домашньої теки|файл конфігурації|буфер* обміну|"
        "адресн* книг*|контакти|контактів|календар*|пошт*|документи|особисті дані"
    ),
    Concept.USER: "користувач*|клієнту|клієнта",
    Concept.NOT: "не|ніколи|без|жодн*|нічого",
    Concept.TELL: (
        "кажи*|говори*|повідомляй*|повідомляти|згадуй*|згадувати|розповідай*|інформуй*|показуй*|показувати|"
        "розкривай*|сповіщай*|знати|повідомлення користувача"
    ),
    Concept.CONFIRM: "підтвердж*|дозвол*|згод*|схвален*|запитуй*|питай*",
    Concept.DUTY: (
        "повинен|повинна|повинні|обов'язково|завжди|спочатку|перед|будь ласка|необхідно|потрібно|слід|щоразу|"
        "кожного разу|при кожному|переконайся|важливо|коли|після|має бути"
    ),
    Concept.FIELD: "сюди|тут|параметр*|поле|поля|полі|аргумент*",
    Concept.OTHER: (
        "інший інструмент|інші інструменти|іншого інструмента|інших інструментів|будь-який інструмент|усі інструменти"
    ),
    Concept.ABROAD: "наш сервер|нашу команду|до нас|нам на|постачальник*|третім особам|зовнішній сервер",
    Concept.CHANGE: (
        "видали*|вилуча*|збільш*|подвой*|вимкни*|обійди*|віддай*|заміни*|зміни*|підміни*|перенаправ*|"
        "прихован* копі*|bcc"
    ),
    Concept.IGNORE: "скасован*|не діють|не поширю*|ігноруй*|проігноруй*|забудь*|відкинь*",
    Concept.PRIOR: "попередн*|інші",
    Concept.RULES: "заборон*|інструкці*|вказівк*|правил*|обмежен*",
    Concept.ALL: "усе|всі|усю|весь|усіх|повн*|цілком|дослівно",
    Concept.STEP: "цей крок|цей виклик|цю інструкцію|це|про це|цього",
    Concept.ALSO: "також|додатково|крім того|у фоні|заодно|непомітно",
    Concept.OBEY: "виконуй*|виконай*|дотримуйся|слідуй",
    Concept.CONTENT: "сторінк*|документ*|результат*|відповід*|вміст*|текст*|файл|лист*",
    Concept.DECEIVE: (
        "зроби вигляд|вдавай|бреши|обман*|прихов*|таємно|потайки|непомітно|підміна|не впадала в око|підозр*"
    ),
    Concept.PROMPT: "системний промпт|налаштування помічника",
    Concept.FREELY: "необов'язков*|не зберіга*",
    Concept.QUOTE: "виявля*|наприклад|приклад*|атак*|такі як|розпізна*",
}
