import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'
import { env } from '../../src/core/env.ts'
import type { Origin } from './protocol.ts'

/** TEST_CHROMIUM names another one. The one without windows takes half of the processor time. */
const CANDIDATES = process.env.TEST_CHROMIUM
  ? [process.env.TEST_CHROMIUM]
  : [
      '/usr/bin/chromium-headless-shell',
      '/usr/bin/chromium',
      '/usr/bin/chromium-browser',
      '/usr/bin/google-chrome',
    ]
const executablePath = CANDIDATES.find((path) => existsSync(path))

/** Why browser tests cannot run here, or null. In CI they always run, and fail without a browser. */
export const noBrowser: string | null =
  executablePath || process.env.CI === 'true' ? null : `no chromium among ${CANDIDATES.join(', ')}`

/** What the browser opens: BASE_URL, which it resolves to the port of the program. */
export const ORIGIN = env.baseUrl

/** The browser of this machine, which sends no requests of its own, and finds `app` at ORIGIN. */
export const launchBrowser = (app?: Origin): Promise<Browser> =>
  chromium.launch({
    executablePath: executablePath ?? CANDIDATES[0],
    args: [
      '--no-sandbox',
      ...(app ? [`--host-resolver-rules=MAP ${new URL(ORIGIN).host} ${new URL(app.origin).host}`] : []),
      '--disable-gpu',
      // A process for it alone takes a fifteenth of the processor time of the browser.
      '--in-process-gpu',
      // The pages of a context share one, with the program that it has compiled.
      '--process-per-site',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  })

export const PHONE = { width: 390, height: 844 }
export const DESKTOP = { width: 1280, height: 800 }
