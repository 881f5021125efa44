import { createElement, Fragment, type ReactNode } from 'react'

/** The languages of the console, with their own names. */
export const LANGUAGES = { en: 'English', de: 'Deutsch' }
export type Language = keyof typeof LANGUAGES

/** The texts of a language by the English text; a text that depends on a number has a form for each plural category. */
export type Words = Readonly<Record<string, string | Partial<Record<Intl.LDMLPluralRule, string>>>>

const STORED = 'console.language'

const isLanguage = (tag: string | null | undefined): tag is Language => Object.hasOwn(LANGUAGES, tag ?? '')

function findLanguage(): Language {
  if (typeof window === 'undefined') return 'en'
  const stored = localStorage.getItem(STORED)
  if (isLanguage(stored)) return stored
  return navigator.languages.map((tag) => tag.split('-')[0]).find(isLanguage) ?? 'en'
}

export const language = findLanguage()
if (typeof document !== 'undefined') document.documentElement.lang = language

/** Chooses a language. The page is loaded again, because texts are read when modules are. */
export function setLanguage(chosen: Language): void {
  localStorage.setItem(STORED, chosen)
  location.reload()
}

// Modules that have texts wait for them: their constants are translated as well. If the file is not reached, the texts
// are English.
const words: Words =
  language === 'de'
    ? await import('./de.ts').then(
        ({ DE }) => DE,
        () => ({}),
      )
    : {}

const numbers = new Intl.NumberFormat(language)
const plurals = new Intl.PluralRules(language)

export const formatNumber = (number: number): string => numbers.format(number)

type Value = string | number | null | undefined

const fill = (text: string, values: Readonly<Record<string, Value>>): string =>
  text.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = values[name]
    return typeof value === 'number' ? formatNumber(value) : (value ?? '')
  })

function find(text: string, count = 0): string {
  const found = Object.hasOwn(words, text) ? words[text] : undefined
  return typeof found === 'object' ? (found[plurals.select(count)] ?? found.other ?? text) : (found ?? text)
}

/** The text in the language of the person, with values in place of `{name}`. Numbers are written as the language does. */
export const t = (text: string, values: Readonly<Record<string, Value>> = {}): string =>
  fill(find(text), values)

/** The text for a number: `one` and `other` in English, with `{count}`. The catalogues have both under `other`. */
export const tCount = (
  count: number,
  one: string,
  other: string,
  values: Readonly<Record<string, Value>> = {},
): string => fill(count === 1 && language === 'en' ? one : find(other, count), { count, ...values })

/** The text with elements in place of `{name}`. */
export const tNodes = (text: string, nodes: Readonly<Record<string, ReactNode>>): ReactNode =>
  createElement(
    Fragment,
    null,
    ...find(text)
      .split(/\{(\w+)\}/)
      .map((part, index) => (index % 2 === 0 ? part : nodes[part])),
  )
