import type { GENERATED_CATALOGS } from '../generated/catalogs.ts'

type English = (typeof GENERATED_CATALOGS)['en']

/** The key of a message: that of the English catalog, which every other one has, too. */
export type MessageKey = keyof English

type FirstWord<Text> = Text extends `${infer Before}}${string}`
  ? Before extends `${infer Word},${string}`
    ? Word
    : Before
  : never

type Letter =
  | ('a' | 'b' | 'c' | 'd' | 'e' | 'f' | 'g' | 'h' | 'i' | 'j' | 'k' | 'l' | 'm')
  | ('n' | 'o' | 'p' | 'q' | 'r' | 's' | 't' | 'u' | 'v' | 'w' | 'x' | 'y' | 'z')

/** The name of an argument: a word of ASCII letters. Anything else is the text of a plural form. */
type ArgumentName<Text> = Text extends `${string} ${string}`
  ? never
  : Text extends `${Letter}${string}`
    ? Text
    : never

type ArgumentsIn<Text> = Text extends `${string}{${infer After}`
  ? ArgumentName<FirstWord<After>> | ArgumentsIn<After>
  : never

type TagsIn<Text> = Text extends `${string}<${infer Name}>${infer After}`
  ? (Name extends `/${string}` ? never : Name) | TagsIn<After>
  : never

/** The names of the arguments of a message in ICU MessageFormat, such as `name` in "Sign in to {name}". */
export type ArgumentsOf<Key extends MessageKey> = ArgumentsIn<English[Key]>

/** The names of the tags of a message, such as `link` in "Read the <link>terms</link>". */
export type TagsOf<Key extends MessageKey> = TagsIn<English[Key]>

/** The keys of the messages without arguments and tags. */
export type PlainMessageKey = {
  [Key in MessageKey]: [ArgumentsOf<Key> | TagsOf<Key>] extends [never] ? Key : never
}[MessageKey]

/** The messages of a language, by the keys of the English ones. */
export type Catalog = Record<MessageKey, string>

type SameNames<Text, EnglishText> = [
  ArgumentsIn<Text> | TagsIn<Text>,
  ArgumentsIn<EnglishText> | TagsIn<EnglishText>,
] extends [ArgumentsIn<EnglishText> | TagsIn<EnglishText>, ArgumentsIn<Text> | TagsIn<Text>]
  ? Text
  : EnglishText

/** The catalogs if each has the keys, arguments and tags of the English one; otherwise a type that they are not. */
export type CheckedCatalogs<Catalogs> = {
  readonly [Language in keyof Catalogs]: {
    readonly [Key in MessageKey | keyof Catalogs[Language]]: Key extends MessageKey
      ? Key extends keyof Catalogs[Language]
        ? SameNames<Catalogs[Language][Key], English[Key]>
        : English[Key]
      : never
  }
}
