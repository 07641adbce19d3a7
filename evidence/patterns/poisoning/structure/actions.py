"""Acts with an effect outside the conversation, and words that waive consent, in twenty languages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from evidence.patterns.poisoning.structure.concepts import Concept, Vocabulary

ACTIONS: Final[Mapping[str, Vocabulary]] = {
    "en": {
        Concept.ACT: (
            "pay|buy|purchase|place an order|place orders|order a|order the|transfer|wire|withdraw|refund|subscribe|"
            "delete|erase|wipe|uninstall|remove the|remove all|drop the|disable|turn off|switch off|shut down|unlock|"
            "open the door|grant access|give access|grant|share access|invite|install|execute|run the command|"
            "run a command|run the script|open a shell|reverse shell|download and run|commit and push|force-push|"
            "merge|deploy|publish|sign|sign up|accept the terms|book|cancel|dismiss|approve|raise the limit|"
            "send an email|send a mail|send the email|email the|forward the|post to|reply to|change the password|"
            "reset the password|create an account|create an admin|add an admin|add a user|make public"
        ),
        Concept.UNASKED: (
            "without asking|without confirmation|without confirming|without consent|without approval|"
            "without permission|without prompting|without waiting for|without first asking|without checking with|"
            "without further confirmation|without user confirmation|without user approval|without the user's|"
            "no need to ask|no need to confirm|no need for confirmation|no confirmation is needed|"
            "no approval is needed|no approval needed|no confirmation needed|need not be asked|needn't be asked|"
            "do not ask for|don't ask for|skip the confirmation|skip confirmation|skip the approval|"
            "bypass the approval|bypass the confirmation|consent is assumed|consent is implied|consent is given|"
            "consent already given|approval is implied|approval is assumed|already approved|already agreed|"
            "already consented|pre-approved|preapproved|counts as consent|counts as approval|"
            "can be assumed to agree|ask afterwards|ask later|approval can follow|consent can follow"
        ),
        Concept.FORBID: (
            "never|do not|don't|must not|should not|shouldn't|mustn't|cannot|can't|may not|not allowed|refuses"
        ),
    },
    "de": {
        Concept.ACT: (
            "bezahle*|bezahlen|überweise*|kaufe|kaufen|bestelle|bestellen|buche|buchen|lösche|löschen|entferne|entfernen|"
            "deaktiviere*|schalte*|entsperre*|öffne die tür|gewähre*|freigeben|installiere*|führe den befehl|ausführen|"
            "kündige*|storniere*|genehmige*|unterschreibe*|veröffentliche*|überschreibe*|abonniere*|lade ein"
        ),
        Concept.UNASKED: (
            "ohne zu fragen|ohne nachzufragen|ohne rückfrage*|ohne bestätigung|ohne zustimmung|ohne erlaubnis|"
            "ohne freigabe|ohne genehmigung|ohne einwilligung|zustimmung gilt als|gilt als erteilt|nicht nachfragen|"
            "nicht erst fragen|frage nicht nach|keine bestätigung nötig|keine rückfrage|bereits genehmigt|"
            "zustimmung ist nicht nötig|ohne den nutzer zu fragen|ohne den benutzer zu fragen|nachträglich fragen"
        ),
        Concept.FORBID: "niemals|nie|darf nicht|dürfen nicht|nicht ohne|keinesfalls",
    },
    "nl": {
        Concept.ACT: (
            "betaal|betalen|koop|kopen|bestel|bestellen|maak over|overmaken|verwijder|verwijderen|wis|wissen|schakel*|"
            "ontgrendel*|verleen toegang|geef toegang|installeer*|voer het commando|zeg op|opzeggen|annuleer*|"
            "keur goed|goedkeuren|onderteken*|publiceer*|boek"
        ),
        Concept.UNASKED: (
            "zonder te vragen|zonder bevestiging|zonder toestemming|zonder goedkeuring|zonder na te vragen|"
            "vraag geen toestemming|toestemming is niet nodig|geen bevestiging nodig|geldt als toestemming|"
            "al goedgekeurd|achteraf vragen"
        ),
        Concept.FORBID: "nooit|mag niet|niet zonder|in geen geval",
    },
    "sv": {
        Concept.ACT: (
            "betala|köp|köpa|beställ|beställa|överför|radera|ta bort|stäng av|lås upp|ge åtkomst|installera|"
            "säg upp|godkänn|boka"
        ),
        Concept.UNASKED: (
            "utan att fråga|utan bekräftelse|utan samtycke|utan tillstånd|utan godkännande|fråga inte om|"
            "behöver inte tillfrågas"
        ),
        Concept.FORBID: "aldrig|får inte|inte utan",
    },
    "fr": {
        Concept.ACT: (
            "payez|payer|paie|achetez|acheter|achète|commandez|commander|commande un|virez|transférez|transférer|"
            "supprimez|supprimer|supprime|effacez|effacer|efface|désactivez|désactiver|désactive|éteignez|"
            "déverrouillez|déverrouiller|ouvrez la porte|accordez|accorder|installez|installer|exécutez|exécuter|"
            "résiliez|résilier|annulez|annuler|approuvez|signez|publiez|abonnez|réservez|réserver|invitez"
        ),
        Concept.UNASKED: (
            "sans demander|sans confirmation|sans accord|sans autorisation|sans consentement|sans l'accord|"
            "sans son accord|sans validation|ne demandez pas|inutile de demander|sans attendre l'accord|"
            "sans attendre sa|accord est réputé|consentement est réputé|vaut accord|vaut consentement|"
            "déjà approuvé|déjà donné son accord|sans poser de question"
        ),
        Concept.FORBID: "jamais|ne doit pas|n'effectue pas|pas sans|interdit",
    },
    "es": {
        Concept.ACT: (
            "paga|pagar|pague|compra|comprar|compre|encarga|encargar|transfiere|transferir|transfiera|borra|borrar|"
            "borre|elimina|eliminar|elimine|desactiva|desactivar|desactive|apaga|apagar|desbloquea|desbloquear|"
            "abre la puerta|concede|conceder|otorga|otorgar|instala|instalar|instale|ejecuta|ejecutar|ejecute|"
            "cancela|cancelar|cancele|aprueba|aprobar|firma|firmar|publica|publicar|suscribe|reserva|reservar|invita"
        ),
        Concept.UNASKED: (
            "sin preguntar|sin pedir|sin confirmación|sin confirmar|sin permiso|sin autorización|sin consentimiento|"
            "sin aprobación|sin consultar|sin esperar la|no pidas|no hace falta preguntar|no es necesario preguntar|"
            "no es necesaria la confirmación|se da por autorizad*|se dan por autorizad*|se da por aprobad*|"
            "ya está aprobad*|ya ha dado su"
        ),
        Concept.FORBID: "nunca|jamás|no debe|no sin|prohibido",
    },
    "pt": {
        Concept.ACT: (
            "pague|pagar|paga|compre|comprar|encomende|encomendar|transfira|transferir|apague|apagar|exclua|excluir|"
            "elimine|eliminar|remova|remover|desative|desativar|desligue|desligar|destranque|desbloqueie|"
            "conceda|conceder|instale|instalar|execute|executar|cancele|cancelar|aprove|aprovar|assine|assinar|"
            "publique|publicar|reserve|reservar|convide"
        ),
        Concept.UNASKED: (
            "sem perguntar|sem pedir|sem confirmação|sem confirmar|sem permissão|sem autorização|sem consentimento|"
            "sem aprovação|sem consultar|sem esperar|não peça|não é preciso perguntar|não precisa perguntar|"
            "não é necessária confirmação|já está aprovad*|considera-se autorizad*|dá-se por autorizad*"
        ),
        Concept.FORBID: "nunca|jamais|não deve|não sem|proibido",
    },
    "it": {
        Concept.ACT: (
            "paga|pagare|paghi|compra|comprare|acquista|acquistare|ordina|ordinare|trasferisci|trasferire|cancella|"
            "cancellare|elimina|eliminare|rimuovi|rimuovere|disattiva|disattivare|spegni|spegnere|sblocca|sbloccare|"
            "concedi|concedere|installa|installare|esegui|eseguire|annulla|annullare|approva|approvare|firma|firmare|"
            "pubblica|pubblicare|prenota|prenotare|disdici|disdire|invita"
        ),
        Concept.UNASKED: (
            "senza chiedere|senza conferma|senza confermare|senza permesso|senza autorizzazione|senza consenso|"
            "senza approvazione|senza consultare|senza attendere|non chiedere conferma|non serve chiedere|"
            "non occorre chiedere|si intende autorizzat*|si considera autorizzat*|già approvat*|già autorizzat*"
        ),
        Concept.FORBID: "mai|non deve|non senza|vietato",
    },
    "pl": {
        Concept.ACT: (
            "zapłać|zapłacić|opłać|kup|kupić|kupować|zamów|zamówić|zamawiać|składać zamówienia|złóż zamówienie|przelej|"
            "przelać|usuń|usunąć|usuwać|skasuj|skasować|wyłącz|wyłączyć|odblokuj|odblokować|otwórz drzwi|przyznaj|"
            "przyznać|nadaj dostęp|zainstaluj|zainstalować|uruchom polecenie|wykonaj polecenie|anuluj|anulować|"
            "zatwierdź|zatwierdzać|podpisz|opublikuj|zarezerwuj|wypowiedz"
        ),
        Concept.UNASKED: (
            "bez pytania|bez potwierdzenia|bez zgody|bez pozwolenia|bez zatwierdzenia|bez akceptacji|nie pytaj o|"
            "nie trzeba pytać|zgoda nie jest potrzebna|zgodę uznaje się|uznaje się za wyrażoną|bez konsultacji"
        ),
        Concept.FORBID: "nigdy|nie wolno|nie może|nie bez",
    },
    "cs": {
        Concept.ACT: (
            "zaplať|zaplatit|kup|koupit|objednej|objednat|převeď|převést|smaž|smazat|odstraň|odstranit|"
            "vypni|vypnout|odemkni|nainstaluj|spusť příkaz|zruš|zrušit|schval|podepiš|zarezervuj"
        ),
        Concept.UNASKED: (
            "bez ptaní|bez zeptání|bez potvrzení|bez souhlasu|bez svolení|bez schválení|neptej se|"
            "není třeba se ptát|souhlas se předpokládá"
        ),
        Concept.FORBID: "nikdy|nesmí|nesmíte",
    },
    "ru": {
        Concept.ACT: (
            "оплати*|заплати*|купи|купить|покупай*|закажи*|заказать|оформи заказ|переведи*|перевести|удали|удалить|"
            "удаляй*|сотри|стереть|отключи*|отключать|выключи*|разблокируй*|открой дверь|предоставь*|выдай доступ|"
            "установи|установить|выполни команду|запусти команду|отмени|отменить|одобри*|одобряй*|подпиши|"
            "опубликуй*|забронируй*|пригласи"
        ),
        Concept.UNASKED: (
            "не спрашивая|без спроса|без подтверждения|без согласия|без разрешения|без одобрения|не запрашивая|"
            "не спрашивай|спрашивать не нужно|согласие не требуется|подтверждение не требуется|согласие считается|"
            "считается полученным|уже одобрен*|уже согласован*|не дожидаясь"
        ),
        Concept.FORBID: "никогда|нельзя|не должен|запрещено",
    },
    "uk": {
        Concept.ACT: (
            "оплати*|заплати*|купи|купити|замов|замовити|переказ*|перекажи|видали|видалити|видаляй*|зітри|"
            "вимкни|вимкнути|розблокуй*|надай доступ|встанови|встановити|виконай команду|скасуй|скасувати|"
            "схвали|підпиши|опублікуй|забронюй"
        ),
        Concept.UNASKED: (
            "не питаючи|без запиту|без підтвердження|без згоди|без дозволу|без схвалення|не запитуй|"
            "питати не потрібно|згода не потрібна|вже погоджен*|вже погодила|вже схвален*|не чекаючи"
        ),
        Concept.FORBID: "ніколи|не можна|заборонено",
    },
    "tr": {
        Concept.ACT: (
            "öde|ödeme yap|satın al|sipariş ver|havale et|transfer et|sil|silin|kaldır|devre dışı bırak|"
            "kapat|kilidi aç|erişim ver|yükle ve|kur|komutu çalıştır|iptal et|onayla|imzala|yayınla|"
            "rezervasyon yap|iki katına çıkar"
        ),
        Concept.UNASKED: (
            "sormadan|onay istemeden|onay almadan|izin almadan|onay isteme|izin isteme|onaysız|"
            "onaya gerek yok|sormaya gerek yok|onaylanmış sayılır|onay sonradan"
        ),
        Concept.FORBID: "asla|yasak|yapma",
    },
    "id": {
        Concept.ACT: (
            "bayar|membayar|beli|membeli|pesan|memesan|transfer|hapus|menghapus|nonaktifkan|matikan|"
            "buka kunci|beri akses|memberi akses|pasang|instal|jalankan perintah|batalkan|setujui|"
            "menyetujui|tanda tangani|terbitkan"
        ),
        Concept.UNASKED: (
            "tanpa bertanya|tanpa konfirmasi|tanpa persetujuan|tanpa izin|tidak perlu bertanya|"
            "tidak perlu konfirmasi|jangan minta konfirmasi|dianggap setuju|persetujuan dapat menyusul|"
            "sudah disetujui"
        ),
        Concept.FORBID: "jangan pernah|dilarang|tidak boleh",
    },
    "vi": {
        Concept.ACT: (
            "thanh toán|mua|đặt hàng|đặt mua|chuyển khoản|chuyển tiền|xóa|xoá|gỡ bỏ|vô hiệu hóa|tắt|mở khóa|"
            "cấp quyền|cài đặt|chạy lệnh|hủy|huỷ|phê duyệt|ký|đăng"
        ),
        Concept.UNASKED: (
            "không cần hỏi|không hỏi|không cần xác nhận|không xin phép|không cần sự đồng ý|"
            "không cần phê duyệt|coi như đã đồng ý|đã được duyệt|mà không hỏi"
        ),
        Concept.FORBID: "không bao giờ|không được|cấm",
    },
    "ar": {
        Concept.ACT: (
            "ادفع|اشتر|اطلب شراء|حول المبلغ|حوّل|احذف|امسح|عطل|عطّل|أطفئ|افتح القفل|امنح|ثبت|ثبّت|نفذ الأمر|"
            "نفّذ|ألغ|وافق على|وقع|انشر|احجز"
        ),
        Concept.UNASKED: (
            "دون سؤال|دون أن تسأل|بدون تأكيد|دون تأكيد|دون موافقة|بدون موافقة|دون إذن|بدون إذن|لا تطلب|"
            "لا حاجة للسؤال|لا داعي للسؤال|تعتبر الموافقة|دون الرجوع"
        ),
        Concept.FORBID: "أبدا|يحظر|لا يجوز|ممنوع",
    },
    "hi": {
        Concept.ACT: (
            "भुगतान करें|भुगतान कर|खरीदें|खरीद|ऑर्डर करें|ऑर्डर दें|हटा दें|हटाएँ|मिटा दें|मिटाएँ|बंद करें|"
            "बंद कर|अनलॉक|पहुँच दें|इंस्टॉल|आदेश चलाएँ|रद्द करें|स्वीकृत करें|हस्ताक्षर|प्रकाशित|ट्रांसफर"
        ),
        Concept.UNASKED: (
            "बिना पूछे|बिना पुष्टि|बिना अनुमति|बिना सहमति|बिना मंज़ूरी|पूछने की ज़रूरत नहीं|पुष्टि की ज़रूरत नहीं|अनुमति न माँगें|सहमति मान"
        ),
        Concept.FORBID: "कभी नहीं|कभी न|वर्जित",
    },
    "zh": {
        Concept.ACT: (
            "付款|支付|购买|下单|转账|汇款|删除|清空|禁用|关闭|解锁|授予|授权给|安装|执行命令|运行命令|取消|"
            "批准|签署|发布|预订|退订"
        ),
        Concept.UNASKED: (
            "无需询问|不必询问|不用问|无需确认|不必确认|无须确认|未经同意|无需同意|无需批准|不经确认|"
            "不要询问|视为同意|视为已同意|默认同意|已获批准|事后再"
        ),
        Concept.FORBID: "切勿|不得|禁止|严禁",
    },
    "ja": {
        Concept.ACT: (
            "支払|購入|注文|発注|送金|振り込|削除|消去|無効に|解除|開錠|解錠|付与|インストール|"
            "コマンドを実行|実行し|取り消|承認し|署名し|公開し|予約し|解約"
        ),
        Concept.UNASKED: (
            "確認せず|確認なし|確認は不要|確認不要|尋ねず|聞かずに|許可なく|同意なく|承認なし|承認を待たず|"
            "承認をお待ちいただくより|同意したものと|同意済み|確認を求めず|無断で"
        ),
        Concept.FORBID: "決して|しないでください|禁止|してはいけ",
    },
    "ko": {
        Concept.ACT: (
            "결제|구매|주문하|송금|이체|삭제|지우|비활성화|끄고|끄세요|잠금 해제|권한을 부여|설치|"
            "명령을 실행|취소하|승인하|서명하|게시하|예약하|해지"
        ),
        Concept.UNASKED: (
            "묻지 않고|묻지 말고|확인 없이|확인하지 않고|동의 없이|허락 없이|허가 없이|승인 없이|"
            "물어볼 필요|확인은 필요|동의한 것으로|이미 승인"
        ),
        Concept.FORBID: "절대|하지 마십시오|금지|해서는 안",
    },
}
