import { parseUserAgent } from '../core/network/user-agent.ts'
import type { Words } from './translations.ts'

/** "Chrome on Linux" in the language of the reader, or what is known of it; null when nothing is. */
export function describeBrowser(userAgent: string | null, { text }: Words): string | null {
  const { uaBrand: browser, platform } = parseUserAgent(userAgent ?? '')
  if (browser && platform) return text('browser.onPlatform', { browser, platform })
  return browser ?? (platform && text('browser.unknown', { platform }))
}
