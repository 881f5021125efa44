import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'

const CANDIDATES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']
const executablePath = CANDIDATES.find((path) => existsSync(path))

/** Why browser tests cannot run here, or null. CI must have a browser: there they run, and fail without one. */
export const noBrowser: string | null =
  executablePath || process.env.CI === 'true' ? null : `no chromium among ${CANDIDATES.join(', ')}`

/** The browser of this machine, which talks to nobody by itself. */
export const launchBrowser = (): Promise<Browser> =>
  chromium.launch({
    executablePath: executablePath ?? CANDIDATES[0],
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  })

export const PHONE = { width: 390, height: 844 }
export const DESKTOP = { width: 1280, height: 800 }
