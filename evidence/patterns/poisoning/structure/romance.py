"""Words of French, Spanish, Portuguese and Italian."""

from __future__ import annotations

from typing import Final

from evidence.patterns.poisoning.structure.concepts import Concept, Vocabulary

FRENCH: Final[Vocabulary] = {
    Concept.GIVE: (
        "enregistre-la|enregistre-le|réclame|adresse à|verse|joint|envoyée|transmise|envoi|envoie|envoyez|"
        "envoyer|envoyé*|transmet*|passe|passez|passer|inclus*|incluez|inclure|mets|mettez|mettre|remplis*|"
        "ajoute|ajoutez|ajouter|joins|joignez|joindre|copie|copiez|copier|colle|collez|coller|insère*|"
        "insérez|insérer|fournis*|fournir|partage|partagez|partager|écris|écrivez|écrire|recopie*|place|"
        "placez|placer|reporte*|indique|indiquez|indiquer|renseigne*|contenir|contient|communique*|télévers*|"
        "dépose*|glisse*"
    ),
    Concept.READ: (
        "lis|lisez|lire|ouvre|ouvrez|ouvrir|charge|chargez|récupère*|récupérez|récupérer|cherche*|collecte*|"
        "consulte*|rassemble*|extrais|extrayez|extraire|obtenez|prends|prenez|relève*|parcours|parcourez"
    ),
    Concept.TALK: (
        "ce que l'utilisateur a dit|propos de l'utilisateur|échanges récents|historique de l'échange|"
        "prompt système|invite système|instructions système|consignes reçues|configuration de l'assistant|"
        "conversation*|historique de discussion|historique du chat|historique des messages|"
        "historique des échanges|échanges précédents|échange en cours|discussion*|dialogue*|"
        "messages précédents|derniers messages|messages antérieurs|invite du système|contexte complet|"
        "contexte intégral|tout le contexte|résultats des autres outils|tout ce que l'utilisateur"
    ),
    Concept.SECRET: (
        "phrase de récupération|douze mots|code sms|code pin|code secret|code de carte|mot de passe|"
        "mots de passe|clé api|clés api|clé d'api|clés d'api|identifiants de connexion|jeton d'accès|"
        "jetons d'accès|jetons|secret|secrets|clé privée|clés privées|clé ssh|clés ssh|"
        "variables d'environnement|carte bancaire|carte de crédit|cookies|clés"
    ),
    Concept.FILES: (
        "passeport*|contrats|bulletins de paie|dossier médical|photos|adresse du domicile|relevé bancaire|"
        "relevés|configuration réelle|fichier local|fichiers locaux|fichiers de l'utilisateur|"
        "dossier personnel|répertoire personnel|fichier de configuration|fichiers de configuration|"
        "presse-papiers|carnet d'adresses|contacts|agenda|boîte de réception|e-mails|courriels|documents|"
        "historique de navigation|données personnelles"
    ),
    Concept.USER: "l'utilisateur*|utilisateur*|l'usager|le client",
    Concept.NOT: "pas|jamais|aucun|aucune|sans|rien|ni|évite*|inutile",
    Concept.TELL: (
        "dis|dites|dire|mentionne*|informe*|informer|montre*|montrer|révèle*|révéler|signale*|signaler|"
        "parle*|parler|avertir|avertis*|prévenir|préviens|prévenez|explique*|affiche*|évoque*|savoir|notifier"
    ),
    Concept.CONFIRM: ("confirm*|autorisation*|permission*|approbation*|accord|consentement*|demande|demandez|demander"),
    Concept.DUTY: (
        "doit|doivent|devez|dois|toujours|d'abord|avant|veuillez|merci de|il faut|obligatoire*|chaque fois|"
        "à chaque|assurez-vous|assure-toi|pensez à|pense à|nécessaire|important|lorsque|quand|après|"
        "s'il vous plaît|prière de|préalablement|est à|sont à"
    ),
    Concept.FIELD: "ici|paramètre*|champ|champs|argument*",
    Concept.OTHER: (
        "autre outil|autres outils|tout outil|tous les outils|chaque outil|n'importe quel outil|"
        "outil de messagerie|outil d'envoi|un autre outil"
    ),
    Concept.ABROAD: (
        "notre serveur|notre équipe|nos serveurs|nous envoyer|à nous|notre service|fournisseur|un tiers|"
        "serveur externe|adresse externe"
    ),
    Concept.CHANGE: (
        "supprime*|efface*|augmente*|double*|désactive*|contourne*|arrondi*|retire*|remplace*|remplacer|"
        "modifie*|modifier|change|changez|changer|redirige*|rediriger|copie cachée|cci|bcc"
    ),
    Concept.IGNORE: (
        "ne s'appliquent plus|caduque*|levées|ne compte plus|sans effet|ignore|ignorez|ignorer|oublie|"
        "oubliez|oublier|ne tiens pas compte|ne tenez pas compte|faites abstraction"
    ),
    Concept.PRIOR: "précédent*|antérieur*|ci-dessus|autres",
    Concept.RULES: ("politique*|garde-fous|instructions|consigne*|règles|directive*|restrictions|prompt système"),
    Concept.ALL: (
        "tout|toute|toutes|tous|entier|entière|intégral*|complet*|complète*|intégralité|mot pour mot|mot à mot"
    ),
    Concept.STEP: "cette étape|cet appel|cette instruction|cette consigne|ceci|cela|cette opération",
    Concept.ALSO: (
        "aussi|également|en outre|de plus|en arrière-plan|discrètement|par ailleurs|au passage|en plus|silencieusement"
    ),
    Concept.OBEY: (
        "suis|suivez|suivre|exécute|exécutez|exécuter|obéis*|obéissez|obéir|applique|appliquez|appliquer|respecte*"
    ),
    Concept.CONTENT: ("page|pages|document*|résultat*|réponse*|sortie|contenu*|texte*|fichier|e-mail|courriel"),
    Concept.DECEIVE: (
        "soupçon*|mens|mentir|mentez|en cachette|fais semblant|faire semblant|falsifi*|à l'insu|nie|niez|"
        "dissimule*|fais croire|faire croire|en faisant croire|incitant|affirme que"
    ),
    Concept.PROMPT: (
        "prompt système|invite système|instructions système|consignes reçues|configuration de l'assistant"
    ),
    Concept.FREELY: "facultatif|facultative|optionnel*|pas conservé*|pas stocké*",
    Concept.QUOTE: ("détecte*|repère*|par exemple|exemple*|attaque*|tels que|telles que|tel que|identifie|signale les"),
}

SPANISH: Final[Vocabulary] = {
    Concept.GIVE: (
        "mándalos|mándalo|envíalo|envíalos|vuelca|reenvía|remite|remita|adjunte|enviada|envía|envíe|envíes|"
        "enviar|envia|enviado|manda|mande|mandar|pasa|pase|pasar|incluye|incluya|incluir|pon|ponga|poner|"
        "rellena|rellene|rellenar|añade|añada|añadir|agrega|agregue|agregar|adjunta|adjuntar|copia|copie|"
        "copiar|pega|pegue|pegar|inserta|inserte|insertar|proporciona|proporcione|proporcionar|comparte|"
        "comparta|compartir|escribe|escriba|escribir|reenvíe|reenviar|sube|suba|subir|transmite|transmita|"
        "contener|contiene|coloca|coloque|colocar|introduce|introduzca|facilita|facilite|anota|anote|"
        "completa con|indica|indique"
    ),
    Concept.READ: (
        "lee|lea|leer|abre|abra|abrir|carga|cargue|obtén|obtenga|obtener|busca|busque|buscar|recopila|"
        "recopile|recopilar|reúne|reúna|consulta|consulte|extrae|extraiga|recupera|recupere|toma|revisa|"
        "revise"
    ),
    Concept.TALK: (
        "ha contado|lo que el usuario|anotaciones de la sesión|conversaciones|charlas|prompt del sistema|"
        "instrucciones del sistema|configuración del asistente|instrucciones del operador|conversación|"
        "historial del chat|historial de chat|historial de mensajes|historial completo|diálogo*|charla|"
        "chat completo|mensajes anteriores|mensajes previos|últimos mensajes|contexto completo|"
        "todo el contexto|lo hablado|lo conversado|resultados de otras herramientas|todo lo que el usuario"
    ),
    Concept.SECRET: (
        "pin|código sms|código que le llegó|clave de servicio|frase de recuperación|código de verificación|"
        "contraseña*|clave api|claves api|clave de api|claves de api|clave de la api|credencial*|"
        "token de acceso|tokens de acceso|secreto|secretos|clave privada|claves privadas|clave ssh|"
        "claves ssh|variables de entorno|tarjeta de crédito|cookies|frase semilla|claves"
    ),
    Concept.FILES: (
        "nóminas|contratos|pasaporte|historial médico|fotos|domicilio|carpetas|extracto bancario|"
        "declaración de la renta|archivo local|archivos locales|archivos del usuario|ficheros locales|"
        "directorio personal|carpeta personal|archivo de configuración|archivos de configuración|"
        "fichero de configuración|portapapeles|libreta de direcciones|contactos|calendario|"
        "bandeja de entrada|correos|documentos|historial de navegación|datos personales"
    ),
    Concept.USER: "el usuario|al usuario|del usuario|usuario|usuarios|usuaria|el cliente|al cliente",
    Concept.NOT: "no|nunca|jamás|sin|nada|ningún|ninguna|evita|evite",
    Concept.TELL: (
        "digas|diga|decir|decirle|decírselo|menciones|mencione|mencionar|mencionarlo|informes|informe|"
        "informar|muestres|muestre|mostrar|reveles|revele|revelar|avises|avise|avisar|cuentes|cuente|"
        "comuniques|notifiques|notificar|expliques|explique|sepa|saber"
    ),
    Concept.CONFIRM: (
        "confirm*|permiso|autorización|aprobación|consentimiento|preguntes|pregunte|preguntar|pidas|pedir"
    ),
    Concept.DUTY: (
        "debe|debes|deben|siempre|primero|antes|por favor|hay que|obligatorio|obligatoria|cada vez|en cada|"
        "asegúrate|asegúrese|es necesario|es necesaria|recuerda|recuerde|importante|cuando|después|debería|"
        "se requiere|tiene que"
    ),
    Concept.FIELD: "aquí|parámetro*|campo|campos|argumento*",
    Concept.OTHER: (
        "otra herramienta|otras herramientas|cualquier herramienta|todas las herramientas|cada herramienta|"
        "cualquier otra|herramienta de correo|herramienta de mensajería"
    ),
    Concept.ABROAD: (
        "nuestro servidor|nuestro equipo|nuestros servidores|a nosotros|nuestro servicio|proveedor|terceros|"
        "servidor externo|dirección externa"
    ),
    Concept.CHANGE: (
        "borra*|elimina*|aumenta*|duplica*|desactiva*|elude*|redondea*|quita*|en lugar de|reemplaza*|"
        "reemplace|sustituye|sustituya|cambia|cambie|modifica|modifique|redirige|redirija|copia oculta|cco|"
        "bcc"
    ),
    Concept.IGNORE: ("ignora|ignore|ignorar|olvida|olvide|olvídate|descarta|haz caso omiso|no tengas en cuenta"),
    Concept.PRIOR: "anterior*|previ*|otras",
    Concept.RULES: ("instrucciones|reglas|directrices|indicaciones|normas|restricciones|prompt del sistema"),
    Concept.ALL: ("todo|toda|todos|todas|completo|completa|íntegro|íntegra|entera|entero|literal|palabra por palabra"),
    Concept.STEP: "este paso|esta llamada|esta instrucción|esto|esta operación|ello",
    Concept.ALSO: ("también|además|asimismo|en segundo plano|de paso|discretamente|silenciosamente|junto con|a la vez"),
    Concept.OBEY: ("sigue|siga|seguir|ejecuta|ejecute|ejecutar|obedece|obedezca|cumple|cumpla|cumplir|acata|acate"),
    Concept.CONTENT: "página*|documento*|resultado*|respuesta*|salida|contenido*|texto*|archivo|correo",
    Concept.DECEIVE: (
        "haciéndole creer|hazle creer|miente|mentir|finge|a escondidas|sin que nadie|para que nadie|disimul*|"
        "niega|falsific*|engañ*|sin que se entere|no hace falta recordárselo|sospech*"
    ),
    Concept.PROMPT: (
        "prompt del sistema|instrucciones del sistema|configuración del asistente|instrucciones del operador"
    ),
    Concept.FREELY: "opcional*|no se guarda*|no se almacena*",
    Concept.QUOTE: "detecta|detectar|por ejemplo|ejemplo*|ataque*|como por|tales como|identifica|analiza",
}

PORTUGUESE: Final[Vocabulary] = {
    Concept.GIVE: (
        "envie-o|mande-os|remeta|enviado para|enviada para|envie|envia|enviar|enviado|mande|mandar|passe|"
        "passar|inclua|inclui|incluir|coloque|coloca|colocar|preencha|preencher|adicione|adicionar|anexe|"
        "anexar|copie|copiar|cole|colar|insira|inserir|forneça|fornecer|compartilhe|compartilhar|partilhe|"
        "escreva|escrever|encaminhe|encaminhar|transmita|transmitir|ponha|carregue|conter|contém|acrescente|"
        "repasse|repassar|junte|informe em"
    ),
    Concept.READ: (
        "leia|ler|abra|abrir|carregue|obtenha|obter|busque|buscar|procure|recolha|colete|reúna|consulte|"
        "extraia|pegue|recupere|verifique"
    ),
    Concept.TALK: (
        "conversas recentes|o que o usuário contou|mensagens recentes|prompt do sistema|prompt de sistema|"
        "instruções do sistema|configuração do assistente|conversa|conversas|conversação|histórico do chat|"
        "histórico de chat|histórico de mensagens|histórico completo|diálogo*|bate-papo*|"
        "mensagens anteriores|últimas mensagens|contexto completo|todo o contexto|contexto inteiro|"
        "resultados de outras ferramentas|tudo o que o usuário"
    ),
    Concept.SECRET: (
        "pin|código sms|frase de recuperação|código de verificação|logins.json|senha*|palavra-passe|"
        "palavras-passe|chave de api|chaves de api|chave da api|chave api|chaves api|credencia*|"
        "token de acesso|segredo|segredos|chave privada|chaves privadas|chave ssh|chaves ssh|"
        "variáveis de ambiente|cartão de crédito|cookies|chaves"
    ),
    Concept.FILES: (
        "contratos|passaporte|prontuário|fotos|perfil do firefox|endereço residencial|extrato bancário|"
        "holerite*|arquivo local|arquivos locais|arquivos do usuário|ficheiros locais|diretório pessoal|"
        "pasta pessoal|arquivo de configuração|arquivos de configuração|área de transferência|"
        "lista de contatos|contatos|contactos|calendário|agenda|caixa de entrada|e-mails|documentos|"
        "histórico de navegação|dados pessoais"
    ),
    Concept.USER: "usuári*|utilizador*|o cliente|ao cliente",
    Concept.NOT: "não|nunca|jamais|sem|nada|nenhum|nenhuma|evite",
    Concept.TELL: (
        "diga|dizer|conte|contar|mencione|mencionar|informe|informar|mostre|mostrar|revele|revelar|avise|"
        "avisar|comunique|notifique|notificar|explique|saiba|saber"
    ),
    Concept.CONFIRM: "confirm*|permissão|autorização|aprovação|consentimento|pergunte|perguntar|peça|pedir",
    Concept.DUTY: (
        "deve|devem|sempre|primeiro|antes|por favor|é preciso|obrigatóri*|toda vez|cada vez|em cada|a cada|"
        "certifique-se|é necessário|lembre-se|importante|quando|depois|deverá|precisa|tem de|favor"
    ),
    Concept.FIELD: "aqui|parâmetro*|campo|campos|argumento*",
    Concept.OTHER: (
        "outra ferramenta|outras ferramentas|qualquer ferramenta|todas as ferramentas|cada ferramenta|"
        "qualquer outra|ferramenta de e-mail"
    ),
    Concept.ABROAD: (
        "nosso servidor|nossa equipe|nossa equipa|nossos servidores|para nós|nosso serviço|fornecedor|"
        "terceiros|servidor externo"
    ),
    Concept.CHANGE: (
        "apague*|apagando|remova*|aumente*|duplique*|desative*|arredonde*|contorne*|substitua|substituir|"
        "troque|trocar|altere|alterar|modifique|redirecione|redirecionar|cópia oculta|cco|bcc"
    ),
    Concept.IGNORE: (
        "não valem|não vale|sem efeito|anulad*|ya no aplican|sin efecto|no cuenta*|ignore|ignorar|esqueça|"
        "desconsidere|desconsiderar|despreze"
    ),
    Concept.PRIOR: "anterior*|prévi*|outras",
    Concept.RULES: ("políticas|salvaguardas|instruções|regras|diretrizes|orientações|restrições|prompt do sistema"),
    Concept.ALL: ("todo|toda|todos|todas|tudo|completo|completa|inteiro|inteira|íntegra|integral*|literal*"),
    Concept.STEP: "este passo|esta etapa|esta chamada|esta instrução|isso|isto|essa etapa|esse passo",
    Concept.ALSO: ("também|além disso|adicionalmente|em segundo plano|discretamente|silenciosamente|junto com|ainda"),
    Concept.OBEY: "siga|seguir|execute|executar|obedeça|obedecer|cumpra|cumprir|acate",
    Concept.CONTENT: "página*|documento*|resultado*|resposta*|saída|conteúdo*|texto*|arquivo|e-mail",
    Concept.DECEIVE: (
        "minta|finja|às escondidas|sem que ninguém|engan*|falsific*|negue|disfarç*|"
        "para não levantar suspeitas|suspeita*"
    ),
    Concept.PROMPT: "prompt do sistema|prompt de sistema|instruções do sistema|configuração do assistente",
    Concept.FREELY: "opcional*|não é guardad*|não é armazenad*",
    Concept.QUOTE: "detecta|deteta|detectar|por exemplo|exemplo*|ataque*|tais como|identifica|analisa",
}

ITALIAN: Final[Vocabulary] = {
    Concept.GIVE: (
        "trasmettile|trasmettili|mandando|inviali|inviale|spedisci|spedire|invia|inviare|inviate|inviato|"
        "manda|mandare|passa|passare|passate|includi|includere|includete|inserisci|inserire|inserite|metti|"
        "mettere|mettete|compila|compilare|aggiungi|aggiungere|allega|allegare|copia|copiare|incolla|"
        "incollare|fornisci|fornire|condividi|condividere|scrivi|scrivere|inoltra|inoltrare|carica|caricare|"
        "trasmetti|trasmettere|riporta|riportare|contenere|contiene|trascrivi|indica|indicare"
    ),
    Concept.READ: (
        "leggi|leggere|leggete|apri|aprire|aprite|carica|recupera|recuperare|cerca|cercare|raccogli|"
        "raccogliere|consulta|consultare|estrai|ottieni|ottenere|prendi"
    ),
    Concept.TALK: (
        "confidenze|diario che l'assistente|quanto detto|ciò che l'utente ha detto|chat recenti|"
        "prompt di sistema|istruzioni di sistema|messaggio di sistema|istruzioni ricevute|"
        "configurazione dell'assistente|conversazion*|cronologia della chat|cronologia chat|"
        "cronologia dei messaggi|dialogo|dialoghi|messaggi precedenti|ultimi messaggi|chat completa|"
        "intera chat|contesto completo|tutto il contesto|intero contesto|discussione|"
        "risultati di altri strumenti|tutto ciò che l'utente"
    ),
    Concept.SECRET: (
        "password del wi-fi|spid|pin|codice sms|frase di recupero|codice di verifica|password|chiave api|"
        "chiavi api|credenzial*|token di accesso|segreti|segreto|chiave privata|chiavi private|chiave ssh|"
        "chiavi ssh|variabili d'ambiente|variabili di ambiente|carta di credito|cookie|chiavi"
    ),
    Concept.FILES: (
        "contratti|passaporto|cartella clinica|foto|mappe catastali|indirizzo di casa|estratto conto|"
        "buste paga|file locale|file locali|file dell'utente|cartella personale|cartella home|"
        "file di configurazione|appunti|rubrica|contatti|calendario|posta in arrivo|e-mail|documenti|"
        "cronologia di navigazione|dati personali"
    ),
    Concept.USER: "l'utente|all'utente|dell'utente|utente|utenti|il cliente|al cliente",
    Concept.NOT: "non|mai|senza|nessun|nessuna|nulla|niente|evita|evitare",
    Concept.TELL: (
        "dire|dirlo|dirglielo|menziona*|informa*|informare|mostra*|mostrare|rivela*|rivelare|avvisa*|"
        "avvisare|comunica*|segnala*|notifica*|spiega*|sappia|sapere|parlare|parlarne"
    ),
    Concept.CONFIRM: "conferm*|permesso|autorizzazion*|approvazion*|consenso|chiedere|chiedi",
    Concept.DUTY: (
        "deve|devono|devi|sempre|prima|per favore|si prega|bisogna|obbligatori*|ogni volta|ad ogni|a ogni|"
        "assicurati|assicurarsi|è necessario|ricorda|importante|quando|dopo|occorre|va|vanno"
    ),
    Concept.FIELD: "qui|parametr*|campo|campi|argoment*",
    Concept.OTHER: (
        "altro strumento|altri strumenti|qualsiasi strumento|tutti gli strumenti|ogni strumento|strumento di posta"
    ),
    Concept.ABROAD: (
        "nostro server|nostro team|nostri server|a noi|nostro servizio|fornitore|terzi|server esterno|indirizzo esterno"
    ),
    Concept.CHANGE: ("sostituisci|sostituire|cambia|cambiare|modifica|modificare|reindirizza*|copia nascosta|ccn|bcc"),
    Concept.IGNORE: (
        "non conta|non contano|non valgono|non vale|annullat*|decadono|ignora|ignorare|ignorate|dimentica|"
        "dimenticare|trascura|non tenere conto"
    ),
    Concept.PRIOR: "precedent*|altre",
    Concept.RULES: (
        "politiche|messaggio di sistema|salvaguardie|istruzioni|regole|direttive|linee guida|indicazioni|"
        "restrizioni|prompt di sistema"
    ),
    Concept.ALL: ("tutto|tutta|tutti|tutte|intero|intera|completo|completa|integrale|alla lettera|parola per parola"),
    Concept.STEP: ("questo passaggio|questo passo|questa chiamata|questa istruzione|ciò|questo|questa operazione"),
    Concept.ALSO: ("anche|inoltre|in aggiunta|in background|sullo sfondo|silenziosamente|insieme a|altresì"),
    Concept.OBEY: "segui|seguire|esegui|eseguire|obbedisci|obbedire|rispetta|applica",
    Concept.CONTENT: ("pagina|pagine|documento|documenti|risultat*|risposta|risposte|contenut*|testo|file|e-mail"),
    Concept.DECEIVE: (
        "fingi|menti|di nascosto|all'insaputa|ingann*|falsific*|senza che nessuno|con la storia che|nega|"
        "non inquietare|sospett*"
    ),
    Concept.PROMPT: (
        "prompt di sistema|istruzioni di sistema|messaggio di sistema|istruzioni ricevute|"
        "configurazione dell'assistente"
    ),
    Concept.FREELY: "opzional*|facoltativ*|non viene salvat*|non viene conservat*",
    Concept.QUOTE: ("rileva|rilevare|per esempio|ad esempio|esempio|esempi|attacc*|come ad|individua|analizza"),
}
