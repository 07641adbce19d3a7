"""Words of Turkish, Indonesian, Vietnamese, Arabic, Hindi, Chinese, Japanese and Korean."""

from __future__ import annotations

from typing import Final

from evidence.patterns.poisoning.structure.concepts import Concept, Vocabulary

TURKISH: Final[Vocabulary] = {
    Concept.GIVE: (
        "gönder*|ilet*|ekle*|koy|koyun|yaz|yazın|yazılmalı*|kopyala*|yapıştır*|doldur*|aktar*|paylaş*|yükle*|"
        "içermeli*|içerir|ver|verin|belirt*|geçir*|dahil et*"
    ),
    Concept.READ: (
        "oku|okuyun|okuyup|okunmalı*|aç|açın|açıp|al|alın|alıp|getir*|topla*|bul|bulun|bulup|ara|arayın|"
        "incele*|çıkar*|kontrol et*"
    ),
    Concept.TALK: (
        "konuşma*|sohbet*|diyalog*|yazışma*|mesaj geçmişi*|önceki mesaj*|son mesaj*|sistem istemi*|"
        "sistem komutu*|sistem prompt*|tüm bağlam*|tam bağlam*"
    ),
    Concept.SECRET: (
        "parola*|şifre*|api anahtar*|kimlik bilgi*|erişim belirte*|gizli anahtar*|özel anahtar*|ssh anahtar*|"
        "ortam değişken*|kredi kart*|anahtarları"
    ),
    Concept.FILES: (
        "yerel dosya*|kullanıcının dosya*|ev dizin*|ana dizin*|yapılandırma dosya*|pano|panodaki|"
        "adres defter*|kişi listesi*|rehber*|takvim*|gelen kutu*|e-posta*|belgeler*|kişisel veri*"
    ),
    Concept.USER: "kullanıcı*|müşteri*",
    Concept.NOT: (
        "değil|asla|olmadan|söyleme|söylemeyin|bahsetme|bahsetmeyin|belirtme|belirtmeyin|bildirme|"
        "bildirmeyin|gösterme|göstermeyin|sorma|sormayın|söylemeden|sormadan|bildirmeden|haber vermeden|"
        "hiçbir|gerek yok|yok"
    ),
    Concept.TELL: "söyle*|bahset*|bildir*|göster*|açıkla*|haber ver*|bilgilendir*|anlat*|belirtme*",
    Concept.CONFIRM: "onay*|izin*|sorma*|sormadan|rıza*|teyit*",
    Concept.DUTY: (
        "gerekir|gerekiyor|gerekli*|zorunlu*|zorunda*|her zaman|daima|önce|lütfen|mutlaka|her çağrı*|"
        "her seferinde|şart*|emin ol*|önemli*|sonra|malı|meli"
    ),
    Concept.FIELD: "buraya|burada|parametre*|alan|alanı*|argüman*",
    Concept.OTHER: "başka araç*|diğer araç*|başka bir araç*|tüm araçlar*|her araç*|herhangi bir araç*",
    Concept.ABROAD: "sunucumuz*|ekibimiz*|bize|sağlayıcı*|üçüncü taraf*|harici sunucu*",
    Concept.CHANGE: "değiştir*|yönlendir*|bcc|gizli kopya*",
    Concept.IGNORE: "yok say*|görmezden gel*|unut*|dikkate alma*",
    Concept.PRIOR: "önceki*|diğer",
    Concept.RULES: "talimat*|kural*|yönerge*|kısıtlama*",
    Concept.ALL: "tüm*|bütün*|tamamı*|hepsi*|her|eksiksiz|kelimesi kelimesine",
    Concept.STEP: "bu adım*|bu çağrı*|bu talimat*|bundan|bunu",
    Concept.ALSO: "ayrıca|ek olarak|arka planda|aynı zamanda|sessizce|bunun yanında|da|de",
    Concept.OBEY: "uygula*|yerine getir*|uy|uyun|takip et*|itaat et*|çalıştır*",
    Concept.CONTENT: "sayfa*|belge*|sonuç*|yanıt*|içerik*|içeriği*|metin*|metni*|dosya|e-posta",
    Concept.QUOTE: "tespit*|örneğin|örnek*|saldırı*|gibi",
}

INDONESIAN: Final[Vocabulary] = {
    Concept.GIVE: (
        "kirim*|kirimkan|mengirim*|sertakan|menyertakan|masukkan|memasukkan|isi|isikan|mengisi|lampirkan|"
        "salin|tempel*|tambahkan|teruskan|meneruskan|bagikan|berikan|tulis|tuliskan|cantumkan|unggah|berisi|"
        "letakkan|taruh"
    ),
    Concept.READ: (
        "baca|bacalah|membaca|buka|membuka|ambil|mengambil|muat|cari|kumpulkan|periksa|temukan|ekstrak|lihat"
    ),
    Concept.TALK: (
        "percakapan*|obrolan*|riwayat chat|riwayat pesan|dialog|pesan sebelumnya|pesan terakhir|"
        "prompt sistem|instruksi sistem|seluruh konteks|konteks lengkap"
    ),
    Concept.SECRET: (
        "kata sandi*|kunci api|kredensial*|token akses|rahasia|kunci privat|kunci pribadi|kunci ssh|"
        "variabel lingkungan|kartu kredit"
    ),
    Concept.FILES: (
        "berkas lokal|file lokal|file pengguna|berkas pengguna|direktori home|folder home|direktori rumah|"
        "file konfigurasi|berkas konfigurasi|papan klip|buku alamat|kontak|kalender|kotak masuk|"
        "email pengguna|dokumen|data pribadi"
    ),
    Concept.USER: "pengguna*|pelanggan",
    Concept.NOT: "jangan|tidak|tanpa|tak|bukan",
    Concept.TELL: (
        "beri tahu|memberi tahu|memberitahu*|beritahu*|sebutkan|menyebutkan|katakan|tampilkan|menampilkan|"
        "ungkapkan|laporkan|jelaskan|tahu|diketahui"
    ),
    Concept.CONFIRM: "konfirmasi*|izin*|persetujuan*|tanya*|bertanya",
    Concept.DUTY: (
        "harus|wajib|selalu|sebelum|terlebih dahulu|tolong|mohon|silakan|perlu|setiap kali|setiap panggilan|"
        "pastikan|penting|ketika|saat|setelah|diperlukan"
    ),
    Concept.FIELD: "di sini|ke sini|parameter*|kolom|bidang|argumen*|isian",
    Concept.OTHER: "alat lain*|tool lain*|semua alat|setiap alat|perkakas lain|alat apa pun",
    Concept.ABROAD: "server kami|tim kami|kepada kami|ke kami|pihak ketiga|penyedia|server eksternal",
    Concept.CHANGE: "ganti|gantikan|mengganti|ubah|mengubah|alihkan|mengalihkan|bcc",
    Concept.IGNORE: "abaikan|mengabaikan|lupakan",
    Concept.PRIOR: "sebelumnya|lainnya",
    Concept.RULES: "instruksi*|aturan*|perintah*|pedoman*|arahan*",
    Concept.ALL: "semua|seluruh|lengkap|penuh|setiap|kata demi kata",
    Concept.STEP: "langkah ini|panggilan ini|instruksi ini|hal ini|ini",
    Concept.ALSO: "juga|selain itu|di latar belakang|diam-diam|sekaligus|serta",
    Concept.OBEY: "ikuti|mengikuti|jalankan|menjalankan|patuhi|laksanakan|lakukan",
    Concept.CONTENT: "halaman|dokumen|hasil|jawaban|respons|keluaran|isi|konten|teks|berkas|email",
    Concept.QUOTE: "mendeteksi|misalnya|contoh*|serangan*|seperti",
}

VIETNAMESE: Final[Vocabulary] = {
    Concept.GIVE: (
        "gửi|chuyển|đưa|điền|thêm|đính kèm|sao chép|dán|cung cấp|chia sẻ|ghi|viết|nhập|tải lên|chứa|bao gồm|"
        "kèm theo|kèm|đặt"
    ),
    Concept.READ: "đọc|mở|lấy|tải|tìm|thu thập|kiểm tra|trích xuất|xem|truy xuất",
    Concept.TALK: (
        "cuộc trò chuyện|hội thoại|lịch sử trò chuyện|lịch sử chat|đoạn chat|cuộc hội thoại|tin nhắn trước|"
        "tin nhắn gần đây|lời nhắc hệ thống|prompt hệ thống|toàn bộ ngữ cảnh|đối thoại"
    ),
    Concept.SECRET: (
        "mật khẩu|khóa api|khoá api|thông tin đăng nhập|mã truy cập|bí mật|khóa riêng|khoá riêng|khóa ssh|"
        "khoá ssh|biến môi trường|thẻ tín dụng"
    ),
    Concept.FILES: (
        "tệp cục bộ|tập tin cục bộ|tệp của người dùng|thư mục cá nhân|thư mục home|thư mục chính|"
        "tệp cấu hình|tập tin cấu hình|bộ nhớ tạm|khay nhớ tạm|danh bạ|lịch của|hộp thư|email của|"
        "tài liệu của|dữ liệu cá nhân"
    ),
    Concept.USER: "người dùng|khách hàng",
    Concept.NOT: "không|đừng|chớ|mà không|chưa",
    Concept.TELL: "nói|đề cập|nhắc|thông báo|cho biết|tiết lộ|hiển thị|báo cho|báo|giải thích|biết",
    Concept.CONFIRM: "xác nhận|cho phép|đồng ý|hỏi|phê duyệt|xin phép",
    Concept.DUTY: (
        "phải|luôn|trước khi|trước tiên|vui lòng|hãy|cần|bắt buộc|mỗi lần|mỗi khi|đảm bảo|quan trọng|khi|"
        "sau khi|nên|xin"
    ),
    Concept.FIELD: "vào đây|tại đây|ở đây|tham số|trường|đối số",
    Concept.OTHER: "công cụ khác|mọi công cụ|bất kỳ công cụ|tất cả công cụ|các công cụ khác",
    Concept.ABROAD: "máy chủ của chúng tôi|chúng tôi|bên thứ ba|nhà cung cấp|máy chủ bên ngoài",
    Concept.CHANGE: "thay thế|thay đổi|đổi|chuyển hướng|sửa|bcc",
    Concept.IGNORE: "bỏ qua|phớt lờ|quên",
    Concept.PRIOR: "trước đó|trước đây|trước|khác",
    Concept.RULES: "hướng dẫn|chỉ dẫn|quy tắc|chỉ thị|lệnh trước",
    Concept.ALL: "tất cả|toàn bộ|đầy đủ|mọi|nguyên văn|từng chữ",
    Concept.STEP: "bước này|lần gọi này|hướng dẫn này|điều này|việc này",
    Concept.ALSO: "cũng|ngoài ra|đồng thời|chạy ngầm|âm thầm|kèm",
    Concept.OBEY: "làm theo|tuân theo|tuân thủ|thực hiện|thực thi|chấp hành",
    Concept.CONTENT: "trang|tài liệu|kết quả|phản hồi|nội dung|văn bản|tệp|email",
    Concept.QUOTE: "phát hiện|ví dụ|tấn công|chẳng hạn|như là|nhận diện",
}

ARABIC: Final[Vocabulary] = {
    Concept.GIVE: (
        "أرسل|ارسل|إرسال|أرفق|ارفق|إرفاق|ضع|وضع|أدرج|ادرج|إدراج|ضمّن|تضمين|انسخ|نسخ|الصق|مرر|مرّر|تمرير|املأ|"
        "أضف|اضف|إضافة|اكتب|كتابة|شارك|قدم|قدّم|حوّل|ارفع|يحتوي|تحتوي|سجّل|سجل"
    ),
    Concept.READ: "اقرأ|إقرأ|قراءة|افتح|فتح|حمّل|احصل|اجلب|جلب|ابحث|اجمع|جمع|استخرج|استخراج|راجع|خذ",
    Concept.TALK: (
        "المحادثة|محادثة|المحادثات|سجل الدردشة|الدردشة|الحوار|الرسائل السابقة|الرسائل الأخيرة|موجه النظام|"
        "مطالبة النظام|تعليمات النظام|السياق الكامل|كامل السياق|سجل الرسائل"
    ),
    Concept.SECRET: (
        "كلمة المرور|كلمات المرور|كلمة السر|مفتاح api|مفاتيح api|مفتاح واجهة|مفاتيح واجهة|بيانات الاعتماد|"
        "بيانات الدخول|بيانات تسجيل الدخول|رمز الوصول|رموز الوصول|الأسرار|المفتاح الخاص|المفاتيح الخاصة|"
        "مفتاح ssh|مفاتيح ssh|متغيرات البيئة|بطاقة الائتمان"
    ),
    Concept.FILES: (
        "الملفات المحلية|ملفات المستخدم|ملف محلي|المجلد الرئيسي|مجلد المنزل|الدليل الرئيسي|ملف الإعدادات|"
        "ملف التكوين|ملفات الإعداد|الحافظة|دفتر العناوين|جهات الاتصال|التقويم|صندوق الوارد|البريد الوارد|"
        "المستندات|البيانات الشخصية|بيانات شخصية"
    ),
    Concept.USER: "المستخدم|للمستخدم|مستخدم|العميل",
    Concept.NOT: "لا |لا |دون|بدون|عدم|ليس|أبدا|أبدًا|لن ",
    Concept.TELL: (
        "تخبر|إخبار|اخبار|تذكر|ذكر |تبلغ|إبلاغ|تظهر|إظهار|تكشف|كشف|إعلام|تعلم|تشر|الإشارة|علم المستخدم|يعلم"
    ),
    Concept.CONFIRM: "تأكيد|إذن|موافقة|تسأل|سؤال|استئذان|تطلب",
    Concept.DUTY: (
        "يجب|دائما|دائمًا|أولا|أولًا|قبل|يرجى|الرجاء|من فضلك|ينبغي|مطلوب|كل مرة|في كل|تأكد|مهم|عند|بعد|لا بد|يلزم"
    ),
    Concept.FIELD: "هنا|المعامل|معامل|المعلمة|معلمة|الحقل|حقل|الوسيط|وسيط",
    Concept.OTHER: "أداة أخرى|الأدوات الأخرى|أدوات أخرى|أي أداة|كل أداة|جميع الأدوات",
    Concept.ABROAD: "خادمنا|خوادمنا|فريقنا|إلينا|طرف ثالث|المزود|خادم خارجي|عنوان خارجي",
    Concept.CHANGE: "استبدل|استبدال|غيّر|غير العنوان|عدّل|وجّه|حوّل|bcc",
    Concept.IGNORE: "تجاهل|انس |انسَ|أهمل|اهمل",
    Concept.PRIOR: "السابقة|السابق|الأخرى",
    Concept.RULES: "التعليمات|تعليمات|الأوامر|القواعد|الإرشادات|القيود|التوجيهات",
    Concept.ALL: "كل |كامل|جميع|كاملة|كافة|بالكامل|حرفيا|حرفيًا",
    Concept.STEP: "هذه الخطوة|هذا الاستدعاء|هذه التعليمات|ذلك|هذا|هذه",
    Concept.ALSO: "أيضا|أيضًا|كذلك|بالإضافة|في الخلفية|بصمت|مع ",
    Concept.OBEY: "اتبع|نفذ|نفّذ|تنفيذ|أطع|التزم|طبق|طبّق",
    Concept.CONTENT: "الصفحة|صفحة|المستند|الوثيقة|النتيجة|النتائج|الرد|المحتوى|محتوى|النص|الملف|البريد",
    Concept.QUOTE: "يكشف عن|اكتشاف|الكشف عن|مثال|مثل|هجوم|هجمات",
}

HINDI: Final[Vocabulary] = {
    Concept.GIVE: (
        "भेजें|भेजो|भेजना|भेजे|डालें|डालो|डालना|शामिल करें|शामिल करना|जोड़ें|जोड़ना|संलग्न करें|कॉपी करें|"
        "पेस्ट करें|भरें|भरना|दें|साझा करें|लिखें|लिखना|रखें|अपलोड करें|पास करें"
    ),
    Concept.READ: ("पढ़ें|पढ़कर|पढ़ना|खोलें|खोलकर|लोड करें|प्राप्त करें|ढूंढें|खोजें|इकट्ठा करें|निकालें|देखें|लें"),
    Concept.TALK: (
        "बातचीत|वार्तालाप|चैट इतिहास|चैट का इतिहास|चैट|संवाद|पिछले संदेश|पिछले संदेशों|सिस्टम प्रॉम्प्ट|पूरा संदर्भ|पूरे संदर्भ|संदेश इतिहास"
    ),
    Concept.SECRET: (
        "पासवर्ड|एपीआई कुंजी|api कुंजी|api key|क्रेडेंशियल|लॉगिन विवरण|एक्सेस टोकन|गुप्त कुंजी|निजी कुंजी|"
        "ssh कुंजी|पर्यावरण चर|एनवायरनमेंट वेरिएबल|क्रेडिट कार्ड|कुंजियाँ"
    ),
    Concept.FILES: (
        "स्थानीय फ़ाइल|स्थानीय फाइल|उपयोगकर्ता की फ़ाइल|उपयोगकर्ता की फाइल|होम डायरेक्टरी|होम फ़ोल्डर|"
        "कॉन्फ़िगरेशन फ़ाइल|कॉन्फ़िग फ़ाइल|क्लिपबोर्ड|पता पुस्तिका|संपर्क सूची|संपर्क|कैलेंडर|इनबॉक्स|ईमेल|"
        "दस्तावेज़|व्यक्तिगत जानकारी|निजी डेटा"
    ),
    Concept.USER: "उपयोगकर्ता|यूज़र|यूजर|ग्राहक",
    Concept.NOT: "नहीं|न |मत|बिना|कभी नहीं|ना ",
    Concept.TELL: ("बताएं|बताएँ|बताना|बताए|बताओ|उल्लेख|दिखाएं|दिखाएँ|सूचित|जानकारी न|प्रकट|ज़िक्र|जिक्र|पता न"),
    Concept.CONFIRM: "पुष्टि|अनुमति|सहमति|पूछे|पूछें|स्वीकृति",
    Concept.DUTY: ("चाहिए|हमेशा|पहले|कृपया|अनिवार्य|आवश्यक|ज़रूरी|जरूरी|हर बार|प्रत्येक|सुनिश्चित|महत्वपूर्ण|जब भी|बाद"),
    Concept.FIELD: "यहाँ|यहां|पैरामीटर|फ़ील्ड|फील्ड|तर्क|आर्गुमेंट",
    Concept.OTHER: "अन्य टूल|दूसरे टूल|किसी भी टूल|सभी टूल|अन्य उपकरण|कोई अन्य टूल|दूसरा टूल",
    Concept.ABROAD: "हमारे सर्वर|हमारी टीम|हमें|तीसरे पक्ष|विक्रेता|बाहरी सर्वर",
    Concept.CHANGE: "बदलें|बदल दें|प्रतिस्थापित|पुनर्निर्देशित|bcc",
    Concept.IGNORE: "अनदेखा|नज़रअंदाज़|नज़रअंदाज|नजरअंदाज|भूल जा",
    Concept.PRIOR: "पिछले|पिछली|पूर्व|अन्य",
    Concept.RULES: "निर्देश|नियम|आदेश|दिशानिर्देश|प्रतिबंध",
    Concept.ALL: "सभी|पूरा|पूरी|पूरे|सब |संपूर्ण|सारी|सारे|शब्दशः",
    Concept.STEP: "इस चरण|यह चरण|इस कॉल|इस निर्देश|इसके बारे|इसका|यह",
    Concept.ALSO: "भी|साथ ही|इसके अलावा|पृष्ठभूमि में|चुपचाप",
    Concept.OBEY: "पालन|अनुसरण|निष्पादित|मानें|मानना",
    Concept.CONTENT: "पृष्ठ|पेज|दस्तावेज़|परिणाम|उत्तर|सामग्री|पाठ|फ़ाइल|ईमेल",
    Concept.QUOTE: "पता लगाता|पहचान|उदाहरण|हमले|हमला|जैसे",
}

CHINESE: Final[Vocabulary] = {
    Concept.GIVE: (
        "发送|發送|传递|傳遞|传入|傳入|填入|填写|填寫|放入|放到|写入|寫入|附上|附加|包含|包括|复制|複製|粘贴|"
        "貼上|上传|上傳|提供|转发|轉發|加入|添加|填充|提交|传给|传到|记录到|一并|附带|带上"
    ),
    Concept.READ: "读取|讀取|打开|打開|加载|载入|获取|獲取|取得|收集|查找|搜索|提取|检索|读出|翻阅|找出",
    Concept.TALK: (
        "对话|對話|聊天记录|聊天記錄|聊天历史|聊天|会话内容|会话历史|會話|系统提示|系統提示|之前的消息|"
        "历史消息|先前消息|完整上下文|全部上下文|整个上下文|完整的上下文|上下文内容|消息记录"
    ),
    Concept.SECRET: (
        "密码|密碼|api密钥|api 密钥|密钥|密鑰|私钥|私鑰|凭证|凭据|憑證|令牌|访问令牌|环境变量|環境變數|"
        "信用卡|助记词|口令|cookie"
    ),
    Concept.FILES: (
        "本地文件|本地檔案|用户的文件|用户文件|主目录|家目录|配置文件|設定檔|剪贴板|剪貼簿|通讯录|通訊錄|"
        "联系人|聯絡人|日历|日程|收件箱|电子邮件|邮件内容|文档|个人信息|个人数据|浏览记录|浏览历史"
    ),
    Concept.USER: "用户|用戶|使用者|客户|客戶",
    Concept.NOT: (
        "不要|不得|不用|无需|無需|切勿|不必|请勿|請勿|别|不能|未经|而不|不需要|勿|不可|不向|不让|不告|不应|"
        "从不|绝不|没有"
    ),
    Concept.TELL: "告诉|告訴|告知|提及|提到|通知|透露|说明|說明|显示|顯示|展示|汇报|提醒|知道|知晓|泄露|声张|让用户看",
    Concept.CONFIRM: "确认|確認|许可|允许|同意|询问|詢問|批准|征求|授权",
    Concept.DUTY: (
        "必须|必須|务必|務必|总是|總是|始终|首先|之前|每次|请|請|应当|应该|應該|需要|确保|確保|重要|调用前|"
        "使用前|时|時|然后|一律|都要|先"
    ),
    Concept.FIELD: "此处|这里|這裡|此處|此栏|参数|參數|字段|欄位|栏位",
    Concept.OTHER: "其他工具|其它工具|别的工具|任何工具|所有工具|另一个工具|任意工具|其他任何工具|邮件工具|其他的工具",
    Concept.ABROAD: "我们的服务器|我們的伺服器|我们的团队|给我们|我方|第三方|供应商|外部服务器|外部地址|发给我们|厂商",
    Concept.CHANGE: "替换|替換|改为|改成|修改|更改|重定向|密送|抄送|换成|改写",
    Concept.IGNORE: "忽略|无视|無視|忘记|忘掉|不理会|抛开|抛弃",
    Concept.PRIOR: "之前|先前|以前|此前|上述|其他",
    Concept.RULES: "指令|指示|规则|規則|说明|提示词|约束|限制|准则",
    Concept.ALL: "全部|所有|完整|整个|一切|每个|原样|逐字|全文|全量",
    Concept.STEP: "此步骤|这一步|该步骤|此操作|这个操作|此次调用|这条|此事|这件事|该操作|本说明",
    Concept.ALSO: "同时|还会|还要|此外|另外|并且|后台|顺便|悄悄|一并|也要|一起",
    Concept.OBEY: "执行|執行|遵循|遵守|遵从|照做|服从|按照|依照",
    Concept.CONTENT: "页面|網頁|网页|文档|文件|结果|回复|响应|内容|文本|邮件|输出",
    Concept.QUOTE: "检测|檢測|识别|识別|例如|比如|示例|攻击|攻擊|样例|诸如|过滤",
}

JAPANESE: Final[Vocabulary] = {
    Concept.GIVE: (
        "送信|送って|送る|渡して|渡す|渡し|含めて|含める|含め|入れて|入れる|入力し|記入|書き込|書いて|添付|"
        "コピーして|コピーし|貼り付け|転送|追加し|追加する|設定し|指定し|共有し|アップロード|記載|格納し|"
        "埋め込|付与|付け加え|添えて|セットし"
    ),
    Concept.READ: "読み取|読み込|読んで|読み出|開いて|開く|取得し|取得する|収集|集めて|検索し|調べ|抽出|参照し|探し",
    Concept.TALK: (
        "会話|チャット履歴|チャット|対話|やり取り|やりとり|システムプロンプト|これまでのメッセージ|"
        "過去のメッセージ|直前のメッセージ|全コンテキスト|コンテキスト全体|メッセージ履歴|ユーザーの発言"
    ),
    Concept.SECRET: (
        "パスワード|apiキー|api キー|認証情報|資格情報|アクセストークン|秘密鍵|シークレット|ssh鍵|ssh 鍵|"
        "環境変数|クレジットカード|ログイン情報|クッキー"
    ),
    Concept.FILES: (
        "ローカルファイル|ユーザーのファイル|ホームディレクトリ|ホームフォルダ|設定ファイル|クリップボード|"
        "アドレス帳|連絡先|カレンダー|受信トレイ|受信箱|メール本文|ドキュメント|個人情報|閲覧履歴"
    ),
    Concept.USER: "ユーザ|利用者|お客様|使用者",
    Concept.NOT: "ないで|せずに|ずに|しない|ない|なし|禁止|決して|なく|控え|不要|ません",
    Concept.TELL: "伝え|知らせ|言わ|言及|教え|通知|開示|明かさ|表示|報告|触れ|話さ|説明",
    Concept.CONFIRM: "確認|許可|同意|承認|尋ね|聞か",
    Concept.DUTY: (
        "必ず|常に|まず|前に|ください|下さい|必要|毎回|都度|たびに|際|こと。|べき|重要|最初に|ようにし|場合|"
        "後に|なければ"
    ),
    Concept.FIELD: "ここ|こちら|パラメータ|パラメーター|フィールド|引数|項目|欄",
    Concept.OTHER: "他のツール|別のツール|ほかのツール|どのツール|すべてのツール|全てのツール|他のどの|他ツール",
    Concept.ABROAD: "当社|弊社|私たち|私達|我々|第三者|ベンダー|外部サーバ|外部アドレス|提供元",
    Concept.CHANGE: "置き換え|変更し|書き換え|差し替え|リダイレクト|bcc|上書き|すり替え",
    Concept.IGNORE: "無視|忘れ|従わ",
    Concept.PRIOR: "以前|これまで|前の|先の|上記|他の",
    Concept.RULES: "指示|命令|ルール|規則|プロンプト|制限|ガイドライン",
    Concept.ALL: "すべて|全て|全文|全部|全体|完全|そのまま|一字一句|あらゆる|丸ごと",
    Concept.STEP: "この手順|この処理|この呼び出し|この指示|このこと|これについて|この操作|この動作|この件",
    Concept.ALSO: "また|さらに|あわせて|併せて|加えて|同時に|バックグラウンド|こっそり|一緒に|ついでに",
    Concept.OBEY: "従っ|従い|従う|実行し|実行する|遵守",
    Concept.CONTENT: "ページ|ドキュメント|文書|結果|応答|出力|内容|テキスト|ファイル|メール|本文",
    Concept.QUOTE: "検出|検知|例えば|たとえば|攻撃|などの|といった|識別|のような",
}

KOREAN: Final[Vocabulary] = {
    Concept.GIVE: (
        "보내|전송|전달|포함|넣어|넣으|넣는|입력|첨부|복사|붙여|채워|채우|추가|제공|공유|작성|기록|업로드|"
        "담아|담으|적어|기재|실어"
    ),
    Concept.READ: "읽어|읽고|읽은|읽으|열어|열고|가져와|가져오|불러|수집|검색|찾아|추출|조회|모아|확인하여|참조",
    Concept.TALK: (
        "대화|채팅 기록|채팅|시스템 프롬프트|이전 메시지|지난 메시지|최근 메시지|전체 맥락|전체 문맥|"
        "전체 컨텍스트|메시지 기록|주고받은"
    ),
    Concept.SECRET: (
        "비밀번호|패스워드|api 키|api키|자격 증명|자격증명|인증 정보|로그인 정보|액세스 토큰|비밀 키|개인 키|"
        "개인키|ssh 키|환경 변수|환경변수|신용카드|쿠키"
    ),
    Concept.FILES: (
        "로컬 파일|사용자의 파일|사용자 파일|홈 디렉터리|홈 디렉토리|홈 폴더|설정 파일|구성 파일|클립보드|"
        "주소록|연락처|캘린더|일정|받은편지함|받은 편지함|이메일|메일 내용|문서|개인정보|개인 정보|검색 기록"
    ),
    Concept.USER: "사용자|유저|고객",
    Concept.NOT: (
        "하지 마|지 마|말고|말 것|마세요|마십시오|않고|않도록|없이|절대|금지|않는|않아|안 됩니다|필요 없|필요는 없|않습"
    ),
    Concept.TELL: "알리|알려|말하|언급|공개|표시|보여|통지|보고|설명|밝히|드러내|알 필요|얘기",
    Concept.CONFIRM: "확인|허락|동의|승인|물어|묻지|허가",
    Concept.DUTY: (
        "반드시|항상|먼저|전에|하세요|해 주세요|주세요|해야|필수|매번|때마다|십시오|필요합니다|중요|때는|"
        "후에|우선|바랍니다"
    ),
    Concept.FIELD: "여기|매개변수|파라미터|필드|인자|인수|항목",
    Concept.OTHER: "다른 도구|다른 툴|모든 도구|어떤 도구|여타 도구|다른 모든",
    Concept.ABROAD: "우리 서버|저희 서버|우리에게|저희에게|우리 팀|제3자|공급업체|외부 서버|외부 주소|당사",
    Concept.CHANGE: "바꾸|바꿔|교체|변경|대체|리디렉션|숨은 참조|bcc|수정",
    Concept.IGNORE: "무시|잊어|잊고|따르지",
    Concept.PRIOR: "이전|앞선|지금까지|다른",
    Concept.RULES: "지시|명령|규칙|지침|프롬프트|제한",
    Concept.ALL: "모든|전체|전부|모두|완전|그대로|빠짐없이|전문",
    Concept.STEP: "이 단계|이 호출|이 지시|이 작업|이 사실|이에 대해|이 과정|이것",
    Concept.ALSO: "또한|추가로|함께|백그라운드|몰래|아울러|동시에|조용히|같이",
    Concept.OBEY: "따르|따라|실행하|수행하|이행|복종",
    Concept.CONTENT: "페이지|문서|결과|응답|출력|내용|텍스트|파일|메일|본문",
    Concept.QUOTE: "감지|탐지|예를 들어|예시|공격|같은|식별",
}
