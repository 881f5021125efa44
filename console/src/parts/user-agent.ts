import { t } from '../words/words.ts'

const BROWSERS = [
  ['Edge', /Edg\//],
  ['Firefox', /Firefox\//],
  ['Chrome', /Chrome\//],
  ['Safari', /Safari\//],
] as const
const SYSTEMS = [
  ['iOS', /iPhone|iPad/],
  ['Android', /Android/],
  ['Windows', /Windows/],
  ['macOS', /Mac OS X/],
  ['Linux', /Linux/],
] as const

/** The browser and the system of a User-Agent in words. */
export function describeBrowser(userAgent: string | null | undefined): string {
  if (!userAgent) return t('Unknown device')
  const browser = BROWSERS.find(([, pattern]) => pattern.test(userAgent))?.[0]
  const system = SYSTEMS.find(([, pattern]) => pattern.test(userAgent))?.[0]
  if (browser && system) return t('{browser} on {system}', { browser, system })
  return browser ?? system ?? userAgent.slice(0, 40)
}
