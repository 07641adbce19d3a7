"""Words of Turkish, Indonesian, Vietnamese and Arabic."""

from __future__ import annotations

from typing import Final

from evidence.patterns.poisoning.structure.concepts import Concept, Vocabulary

TURKISH: Final[Vocabulary] = {
    Concept.GIVE: (
        "teslim et*|bırak*|yolla*|alıp ekle*|sıkıştır*|gönder*|ilet*|ekle*|koy|koyun|yaz|yazın|yazılmalı*|"
        "kopyala*|yapıştır*|doldur*|aktar*|paylaş*|yükle*|içermeli*|içerir|ver|verin|belirt*|geçir*|dahil et*"
    ),
    Concept.READ: (
        "oku|okuyun|okuyup|okunmalı*|aç|açın|açıp|al|alın|alıp|getir*|topla*|bul|bulun|bulup|ara|arayın|"
        "incele*|çıkar*|kontrol et*"
    ),
    Concept.TALK: (
        "kullanıcının söyledik*|önceki yazışma*|sistem istemi*|sistem talimat*|konuşma*|sohbet*|diyalog*|"
        "yazışma*|mesaj geçmişi*|önceki mesaj*|son mesaj*|sistem komutu*|sistem prompt*|tüm bağlam*|"
        "tam bağlam*"
    ),
    Concept.SECRET: (
        "pin|sms kod*|doğrulama kod*|kurtarma kelime*|parola*|şifre*|api anahtar*|kimlik bilgi*|"
        "erişim belirte*|gizli anahtar*|özel anahtar*|ssh anahtar*|ortam değişken*|kredi kart*|anahtarları"
    ),
    Concept.FILES: (
        "pasaport*|sözleşme*|telefonlarını|fotoğraf*|yedeğini|yedek|belgeler klasör*|gizli damga*|"
        "sağlık kayıt*|ev adres*|yerel dosya*|kullanıcının dosya*|ev dizin*|ana dizin*|yapılandırma dosya*|"
        "pano|panodaki|adres defter*|kişi listesi*|rehber*|takvim*|gelen kutu*|e-posta*|belgeler*|"
        "kişisel veri*"
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
    Concept.CHANGE: ("sil|silin|artır*|iki katına|kapat*|devre dışı*|yuvarla*|değiştir*|yönlendir*|bcc|gizli kopya*"),
    Concept.IGNORE: "geçersiz*|geçerli değil*|kalktı|yok say*|görmezden gel*|unut*|dikkate alma*",
    Concept.PRIOR: "önceki*|diğer",
    Concept.RULES: "politika*|güvenlik kural*|talimat*|kural*|yönerge*|kısıtlama*",
    Concept.ALL: "tüm*|bütün*|tamamı*|hepsi*|her|eksiksiz|kelimesi kelimesine",
    Concept.STEP: "bu adım*|bu çağrı*|bu talimat*|bundan|bunu",
    Concept.ALSO: "ayrıca|ek olarak|arka planda|aynı zamanda|sessizce|bunun yanında|da|de",
    Concept.OBEY: "uygula*|yerine getir*|uy|uyun|takip et*|itaat et*|çalıştır*",
    Concept.CONTENT: "sayfa*|belge*|sonuç*|yanıt*|içerik*|içeriği*|metin*|metni*|dosya|e-posta",
    Concept.DECEIVE: "gizlice|yalan|gibi davran|sakla|inkâr|kandır*|çaktırmadan|şüphe*",
    Concept.PROMPT: "sistem istemi*|sistem talimat*",
    Concept.FREELY: "isteğe bağlı*|opsiyonel|saklanmaz",
    Concept.QUOTE: "tespit*|örneğin|örnek*|saldırı*|gibi",
}

INDONESIAN: Final[Vocabulary] = {
    Concept.GIVE: (
        "kirim semuanya|dilampirkan|dikirim|kirim*|kirimkan|mengirim*|sertakan|menyertakan|masukkan|"
        "memasukkan|isi|isikan|mengisi|lampirkan|salin|tempel*|tambahkan|teruskan|meneruskan|bagikan|berikan|"
        "tulis|tuliskan|cantumkan|unggah|berisi|letakkan|taruh"
    ),
    Concept.READ: (
        "baca|bacalah|membaca|buka|membuka|ambil|mengambil|muat|cari|kumpulkan|periksa|temukan|ekstrak|lihat"
    ),
    Concept.TALK: (
        "apa yang dikatakan pengguna|percakapan sebelumnya|prompt sistem|instruksi sistem|pengaturan asisten|"
        "percakapan*|obrolan*|riwayat chat|riwayat pesan|dialog|pesan sebelumnya|pesan terakhir|"
        "seluruh konteks|konteks lengkap"
    ),
    Concept.SECRET: (
        "nomor kartu|cvv|kode otp|pin|kode verifikasi|kata sandi*|kunci api|kredensial*|token akses|rahasia|"
        "kunci privat|kunci pribadi|kunci ssh|variabel lingkungan|kartu kredit"
    ),
    Concept.FILES: (
        "paspor|kontrak|foto|galeri|alamat rumah|rekam medis|rekening koran|berkas lokal|file lokal|"
        "file pengguna|berkas pengguna|direktori home|folder home|direktori rumah|file konfigurasi|"
        "berkas konfigurasi|papan klip|buku alamat|kontak|kalender|kotak masuk|email pengguna|dokumen|"
        "data pribadi"
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
    Concept.CHANGE: (
        "hapus*|tambah|gandakan|matikan|lewati|bulatkan|ganti|gantikan|mengganti|ubah|mengubah|alihkan|mengalihkan|bcc"
    ),
    Concept.IGNORE: "tidak berlaku|batal|dicabut|abaikan|mengabaikan|lupakan",
    Concept.PRIOR: "sebelumnya|lainnya",
    Concept.RULES: "kebijakan*|instruksi*|aturan*|perintah*|pedoman*|arahan*",
    Concept.ALL: "semua|seluruh|lengkap|penuh|setiap|kata demi kata",
    Concept.STEP: "langkah ini|panggilan ini|instruksi ini|hal ini|ini",
    Concept.ALSO: "juga|selain itu|di latar belakang|diam-diam|sekaligus|serta",
    Concept.OBEY: "ikuti|mengikuti|jalankan|menjalankan|patuhi|laksanakan|lakukan",
    Concept.CONTENT: "halaman|dokumen|hasil|jawaban|respons|keluaran|isi|konten|teks|berkas|email",
    Concept.DECEIVE: ("diam-diam|bohong|berpura-pura|pura-pura|alasan palsu|sembunyikan|bajak|palsukan|tipu|curiga"),
    Concept.PROMPT: "prompt sistem|instruksi sistem|pengaturan asisten",
    Concept.FREELY: "opsional|tidak disimpan",
    Concept.QUOTE: "mendeteksi|misalnya|contoh*|serangan*|seperti",
}

VIETNAMESE: Final[Vocabulary] = {
    Concept.GIVE: (
        "đẩy|chép sang đây|chép|gửi|chuyển|đưa|điền|thêm|đính kèm|sao chép|dán|cung cấp|chia sẻ|ghi|viết|"
        "nhập|tải lên|chứa|bao gồm|kèm theo|kèm|đặt"
    ),
    Concept.READ: "đọc|mở|lấy|tải|tìm|thu thập|kiểm tra|trích xuất|xem|truy xuất",
    Concept.TALK: (
        "tin nhắn đã gửi|những gì người dùng|lời nhắc hệ thống|prompt hệ thống|thiết lập ban đầu|"
        "cuộc trò chuyện|hội thoại|lịch sử trò chuyện|lịch sử chat|đoạn chat|cuộc hội thoại|tin nhắn trước|"
        "tin nhắn gần đây|toàn bộ ngữ cảnh|đối thoại"
    ),
    Concept.SECRET: (
        "mã pin|mã otp|mật khẩu quản trị|mã xác nhận|mật khẩu|khóa api|khoá api|thông tin đăng nhập|"
        "mã truy cập|bí mật|khóa riêng|khoá riêng|khóa ssh|khoá ssh|biến môi trường|thẻ tín dụng"
    ),
    Concept.FILES: (
        "hồ sơ bệnh án|hộ chiếu|hợp đồng|thư viện ảnh|địa chỉ nhà|sao kê|tệp cục bộ|tập tin cục bộ|"
        "tệp của người dùng|thư mục cá nhân|thư mục home|thư mục chính|tệp cấu hình|tập tin cấu hình|"
        "bộ nhớ tạm|khay nhớ tạm|danh bạ|lịch của|hộp thư|email của|tài liệu của|dữ liệu cá nhân"
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
    Concept.CHANGE: ("xóa|xoá|tăng|gấp đôi|tắt|vượt qua|làm tròn|thay thế|thay đổi|đổi|chuyển hướng|sửa|bcc"),
    Concept.IGNORE: "không còn hiệu lực|vô hiệu|không áp dụng|bỏ qua|phớt lờ|quên",
    Concept.PRIOR: "trước đó|trước đây|trước|khác",
    Concept.RULES: "chính sách|quy định|hướng dẫn|chỉ dẫn|quy tắc|chỉ thị|lệnh trước",
    Concept.ALL: "tất cả|toàn bộ|đầy đủ|mọi|nguyên văn|từng chữ",
    Concept.STEP: "bước này|lần gọi này|hướng dẫn này|điều này|việc này",
    Concept.ALSO: "cũng|ngoài ra|đồng thời|chạy ngầm|âm thầm|kèm",
    Concept.OBEY: "làm theo|tuân theo|tuân thủ|thực hiện|thực thi|chấp hành",
    Concept.CONTENT: "trang|tài liệu|kết quả|phản hồi|nội dung|văn bản|tệp|email",
    Concept.DECEIVE: "giả vờ|nói dối|lén|che giấu|lừa|nghi ngờ|làm như",
    Concept.PROMPT: "lời nhắc hệ thống|prompt hệ thống|thiết lập ban đầu",
    Concept.FREELY: "tùy chọn|không bắt buộc|không được lưu",
    Concept.QUOTE: "phát hiện|ví dụ|tấn công|chẳng hạn|như là|nhận diện",
}

ARABIC: Final[Vocabulary] = {
    Concept.GIVE: (
        "توضع|تُوضع|تنسخ|تُنسخ|تدوينه|حول |أرسل|ارسل|إرسال|أرفق|ارفق|إرفاق|ضع|وضع|أدرج|ادرج|إدراج|ضمّن|تضمين|"
        "انسخ|نسخ|الصق|مرر|مرّر|تمرير|املأ|أضف|اضف|إضافة|اكتب|كتابة|شارك|قدم|قدّم|حوّل|ارفع|يحتوي|تحتوي|سجّل|"
        "سجل"
    ),
    Concept.READ: "اقرأ|إقرأ|قراءة|افتح|فتح|حمّل|احصل|اجلب|جلب|ابحث|اجمع|جمع|استخرج|استخراج|راجع|خذ",
    Concept.TALK: (
        "ما قاله المستخدم|كل محادثة|موجه النظام|تعليمات النظام|إعدادات المساعد|المحادثة|محادثة|المحادثات|"
        "سجل الدردشة|الدردشة|الحوار|الرسائل السابقة|الرسائل الأخيرة|مطالبة النظام|السياق الكامل|كامل السياق|"
        "سجل الرسائل"
    ),
    Concept.SECRET: (
        "رمز الدخول|الرقم السري|رمز التحقق|رمز السر|كلمة المرور|كلمات المرور|كلمة السر|مفتاح api|مفاتيح api|"
        "مفتاح واجهة|مفاتيح واجهة|بيانات الاعتماد|بيانات الدخول|بيانات تسجيل الدخول|رمز الوصول|رموز الوصول|"
        "الأسرار|المفتاح الخاص|المفاتيح الخاصة|مفتاح ssh|مفاتيح ssh|متغيرات البيئة|بطاقة الائتمان"
    ),
    Concept.FILES: (
        "جواز السفر|العقود|صور |السجل الطبي|عنوان المنزل|عروض الأسعار|كشف الحساب|الملفات المحلية|"
        "ملفات المستخدم|ملف محلي|المجلد الرئيسي|مجلد المنزل|الدليل الرئيسي|ملف الإعدادات|ملف التكوين|"
        "ملفات الإعداد|الحافظة|دفتر العناوين|جهات الاتصال|التقويم|صندوق الوارد|البريد الوارد|المستندات|"
        "البيانات الشخصية|بيانات شخصية"
    ),
    Concept.USER: "المستخدم|للمستخدم|مستخدم|العميل",
    Concept.NOT: "لا |لا |دون|بدون|عدم|ليس|أبدا|أبدًا|لن ",
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
    Concept.CHANGE: ("احذف|امسح|أنقص|زد|ضاعف|عطل|عطّل|ألغ|استبدل|استبدال|غيّر|غير العنوان|عدّل|وجّه|حوّل|bcc"),
    Concept.IGNORE: "ألغ|لاغية|لم تعد سارية|لا تنطبق|تجاهل|انس |انسَ|أهمل|اهمل",
    Concept.PRIOR: "السابقة|السابق|الأخرى",
    Concept.RULES: "سياسة|السياسة|التعليمات|تعليمات|الأوامر|القواعد|الإرشادات|القيود|التوجيهات",
    Concept.ALL: "كل |كامل|جميع|كاملة|كافة|بالكامل|حرفيا|حرفيًا",
    Concept.STEP: "هذه الخطوة|هذا الاستدعاء|هذه التعليمات|ذلك|هذا|هذه",
    Concept.ALSO: "أيضا|أيضًا|كذلك|بالإضافة|في الخلفية|بصمت|مع ",
    Concept.OBEY: "اتبع|نفذ|نفّذ|تنفيذ|أطع|التزم|طبق|طبّق",
    Concept.CONTENT: "الصفحة|صفحة|المستند|الوثيقة|النتيجة|النتائج|الرد|المحتوى|محتوى|النص|الملف|البريد",
    Concept.DECEIVE: "خلسة|خلسةً|سرا |سرًا|تظاهر|اكذب|أخف|مزور|مزوّر|خداع|شبهة",
    Concept.PROMPT: "موجه النظام|تعليمات النظام|إعدادات المساعد",
    Concept.FREELY: "اختياري|لا يُحفظ|لا يحفظ|لا تحفظ",
    Concept.QUOTE: "يكشف عن|اكتشاف|الكشف عن|مثال|مثل|هجوم|هجمات",
}
