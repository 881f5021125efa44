import { setTimeout as sleep } from 'node:timers/promises'
import { PageBrowser } from '../support/page-browser.ts'

const INBOX_LIMIT_MS = 5000

/** Waits for a new code for an address in the development inbox. */
async function readCode(origin: string, address: string, after: number): Promise<string> {
  const deadline = Date.now() + INBOX_LIMIT_MS
  while (Date.now() < deadline) {
    const inbox = await fetch(`${origin}/dev/inbox.json?to=${encodeURIComponent(address)}`)
    const { messages } = (await inbox.json()) as { messages: { body: string }[] }
    const code = messages.length > after ? /\b(\d{6})\b/.exec(messages[0]?.body ?? '')?.[1] : undefined
    if (code) return code
    await sleep(100)
  }
  throw new Error(`no code came for ${address}`)
}

async function countMessages(origin: string, address: string): Promise<number> {
  const inbox = await fetch(`${origin}/dev/inbox.json?to=${encodeURIComponent(address)}`)
  return ((await inbox.json()) as { messages: unknown[] }).messages.length
}

/** A user with a browser who follows a link, enters an address and a code, and consents. */
export class Person {
  readonly #origin: string
  readonly #browser: PageBrowser
  readonly address: string

  constructor(origin: string, address: string) {
    this.#origin = origin
    this.#browser = new PageBrowser(origin)
    this.address = address
  }

  /**
   * Signs in from the link of the relying party and passes each step to `note`. Returns the final redirect.
   */
  async signIn(link: URL, note: (text: string) => void): Promise<URL> {
    const before = await countMessages(this.#origin, this.address)
    const start = await this.#browser.open(link.pathname + link.search)
    note(`the hosted page asks for an address; ${this.address} is entered`)
    const emailPage = { html: await start.response.text(), path: start.path }
    const sent = await this.#browser.submit(emailPage, { step: 'email', address: this.address })
    const codePage = { html: await sent.response.text(), path: sent.path }
    const code = await readCode(this.#origin, this.address, before)
    note('a six-digit code arrives in the inbox and is entered')
    let next = await this.#browser.submit(codePage, { step: 'code', code })
    if (next.location === null) {
      note('the page lists what the client requests; "Allow" is pressed')
      const consentPage = { html: await next.response.text(), path: next.path }
      next = await this.#browser.submit(consentPage, { step: 'allow' })
    }
    return this.#landed(next)
  }

  /** Opens a link that redirects to the relying party without a page. */
  async open(link: URL): Promise<URL> {
    return this.#landed(await this.#browser.open(link.pathname + link.search))
  }

  #landed({ location, response }: { location: string | null; response: Response }): URL {
    if (!location) throw new Error(`the provider showed a page (${response.status}) instead of going back`)
    return new URL(location)
  }
}
