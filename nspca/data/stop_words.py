"""Stop words: words of four languages that carry grammar and no topic, and a guess of a text's language.

The English list is that of scikit-learn. The German, French and Spanish lists were written for this package:
articles, pronouns, prepositions, conjunctions, auxiliary verbs and the commonest adverbs.
`nspca.data.counting` leaves these words out.
"""

from collections.abc import Iterable
from functools import cache

LANGUAGES = ("english", "german", "french", "spanish")
ENOUGH = 0.15
"""Share of stop words that tells a language. Running text of it has 35 to 50 %, other text less than 10 %."""

_GERMAN = """
aber alle allem allen aller alles als also am an ander andere anderem anderen anderer anderes anders auch
auf aus außer bald bei beide beiden beim bereits bevor bin bis bist da dabei dadurch dafür dagegen daher
dahin damals damit danach daneben dann daran darauf daraus darf darin darüber darum darunter das dass daß
davon davor dazu dein deine deinem deinen deiner dem den denen denn dennoch der deren derer des deshalb
dessen dich die dies diese dieselbe dieselben diesem diesen dieser dieses dir doch dort du durch dürfen
durfte ebenso eben ein eine einem einen einer eines einige einigen einiger einiges einmal er erst es etwa
etwas euch euer eure eurem euren eurer für ganz gar gegen gewesen gibt ging habe haben habt hat hatte
hätte hatten hätten hattest her hier hin hinter ich ihm ihn ihnen ihr ihre ihrem ihren ihrer ihres im
immer in indem ins irgend ist ja jede jedem jeden jeder jedes jedoch jemand jene jenem jenen jener jenes
jetzt kann kannst kaum kein keine keinem keinen keiner keines können könnte könnten konnte konnten man
manche manchem manchen mancher manches mehr mein meine meinem meinen meiner mich mir mit möchte mochte
müssen muss muß musst musste mussten nach nachdem nein nicht nichts nie niemand noch nun nur ob oben oder
oft ohne schon sehr seid sein seine seinem seinen seiner seines seit selbst sich sie sind so sogar solche
solchem solchen solcher solches soll sollen sollte sollten sondern sonst sowie statt trotz über überhaupt
um und uns unser unsere unserem unseren unserer unter viel viele vielen vieler vielleicht vom von vor
vorher während wäre wären war waren warst warum was wegen weil weiter welche welchem welchen welcher
welches wenig wenige wenn wer werde werden wessen wie wieder will wir wird wirst wo wobei wodurch wohl
wollen wollte wollten worden wurde würde wurden würden zu zum zur zwar zwischen
"""
_FRENCH = """
afin ai aient ainsi ais ait alors après as assez au aucun aucune aujourd auquel aura aurait aussi autre
autres aux auxquels avaient avais avait avant avec avez avoir avons ayant beaucoup bien bon car ce ceci
cela celle celles celui cependant ces cet cette ceux chacun chaque chez ci comme comment contre dans de
depuis dernier derrière des dès donc dont du duquel durant elle elles en encore enfin entre est et
étaient étais était étant été êtes être eu eux fait faire fait faut fois font furent fut hors ici il ils
jamais je jusqu jusque la là laquelle le lequel les lesquelles lesquels leur leurs lorsque lui ma mais me
même mêmes mes mien mienne moi moins mon ne ni non nos notre nous on ont or ou où oui par parce parfois
parmi pas pendant peu peut peuvent plus plusieurs plutôt pour pourquoi pourtant pouvait près presque puis
puisque qu quand quant que quel quelle quelles quelque quelques quels qui quoi rien sa sans sauf se selon
sera serait seront ses seulement si sien sienne sinon soi soit sommes son sont sous souvent sur ta tandis
tant te tel telle telles tels tes toi ton toujours tous tout toute toutes très trop tu un une va vers
voici voilà vos votre vous vont
"""
_SPANISH = """
al algo algún alguna algunas alguno algunos allá allí ambos ante antes aquel aquella aquellas aquello
aquellos aquí así aún aunque bajo bien cada casi como cómo con contra cual cuál cuales cualquier cuando
cuándo cuanto cuánto de del dentro desde después donde dónde dos durante el él ella ellas ello ellos en
entonces entre era eran eras eres es esa esas ese eso esos esta está estaba estaban estado estamos están
estar estas este esto estos estoy etc fin fue fueron fuera ha había habían haber habrá han has hasta hay
haya he hecho hemos hizo hoy incluso junto la las le les lo los luego más me mediante menos mi mí mía
mientras mío mis misma mismas mismo mismos mucha muchas mucho muchos muy nada nadie ni ningún ninguna
ninguno no nos nosotras nosotros nuestra nuestras nuestro nuestros nunca os otra otras otro otros para
pero poca pocas poco pocos podía por porque pues puede pueden que qué quien quién quienes se sea sean
según ser será si sí sido siempre siendo sin sino sobre son soy su sus suya suyas suyo suyos tal también
tampoco tan tanto te tenía tener tengo ti tiene tienen toda todas todavía todo todos tras tu tú tus tuvo
un una unas uno unos usted ustedes va van varias varios veces vez vosotras vosotros vuestra vuestro ya yo
"""
_LISTS = {"german": _GERMAN, "french": _FRENCH, "spanish": _SPANISH}


@cache
def stop_words(language: str) -> frozenset[str]:
    """Return the stop words of one of `LANGUAGES`, in lower case."""
    if language != "english":
        return frozenset(_LISTS[language].split())
    # Imported when it is needed: the start of every page is faster without.
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    return frozenset(ENGLISH_STOP_WORDS)


def guess_language(words: Iterable[str]) -> str:
    """Return the one of `LANGUAGES` whose stop words make up most of the words; empty when none has enough.

    Some thousands of words of running text, in lower case, are enough.
    """
    counted = [*words]
    shares = {
        language: sum(word in stop_words(language) for word in counted) / max(len(counted), 1)
        for language in LANGUAGES
    }
    best = max(shares, key=lambda language: shares[language])
    return best if shares[best] >= ENOUGH else ""
