import type { EN } from './catalogs/en.ts'

/** The key of a message: that of the English catalog, which every other one has, too. */
export type MessageKey = keyof typeof EN

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
export type ArgumentsOf<Key extends MessageKey> = ArgumentsIn<(typeof EN)[Key]>

/** The names of the tags of a message, such as `link` in "Read the <link>terms</link>". */
export type TagsOf<Key extends MessageKey> = TagsIn<(typeof EN)[Key]>

/** The messages of a language, by the keys of the English ones. */
export type Catalog = Record<MessageKey, string>

type SameNames<Text, English> = [
  ArgumentsIn<Text> | TagsIn<Text>,
  ArgumentsIn<English> | TagsIn<English>,
] extends [ArgumentsIn<English> | TagsIn<English>, ArgumentsIn<Text> | TagsIn<Text>]
  ? Text
  : English

/** A catalog with the arguments and tags of the English one; any other does not compile. */
type Checked<Texts extends Catalog> = {
  readonly [Key in keyof Texts]: Key extends MessageKey ? SameNames<Texts[Key], (typeof EN)[Key]> : never
}

/** Defines the catalog of a language. A missing key, an unknown one, or another argument does not compile. */
export const defineCatalog = <const Texts extends Catalog>(texts: Texts & Checked<Texts>): Catalog => texts
