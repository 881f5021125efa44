/** A text of pages and messages that a tenant replaces, in one language. The text is in ICU MessageFormat. */
export type TextOverride = { locale: string; key: string; text: string }
