import { describe, expect, test } from 'vitest'
import { describeBrowser } from '../../src/languages/browser.ts'
import { getWords } from '../../src/languages/translations.ts'

const CHROMIUM = 'AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0'

describe('describeBrowser', () => {
  test.each([
    [`Mozilla/5.0 (X11; Linux x86_64) ${CHROMIUM} Safari/537.36`, 'Chrome on Linux'],
    [
      `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${CHROMIUM} Safari/537.36 Edg/142.0.0.0`,
      'Microsoft Edge on Windows',
    ],
    [`Mozilla/5.0 (Windows NT 10.0) ${CHROMIUM} Safari/537.36 OPR/124.0.0.0`, 'Opera on Windows'],
    [
      'Mozilla/5.0 (Linux; Android 15; K) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/28.0 Chrome/130.0.0.0 Mobile Safari/537.36',
      'Samsung Internet on Android',
    ],
    [
      'Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Mobile/15E148 Safari/604.1',
      'Safari on iOS',
    ],
    ['Firefox/145.0', 'Firefox'],
    ['Mozilla/5.0 (X11; Linux x86_64) Evil/1.0', 'A browser on Linux'],
    ['https://evil.example/\r\nBcc: x', null],
    [null, null],
  ])('names browser and platform of %s in words of its own', (userAgent, words) => {
    expect(describeBrowser(userAgent, getWords('en'))).toBe(words)
  })
})
