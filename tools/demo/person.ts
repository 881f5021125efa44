import type { KeyObject } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { createAssertion, createCredential } from '../../test/support/authenticator.ts'
import { PageBrowser } from '../../test/support/page-browser.ts'
import { openUpstreamBrowser } from '../../test/support/upstream.ts'

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

const unescapeHtml = (text: string): string => text.replaceAll('&quot;', '"').replaceAll('&amp;', '&')

const readAttribute = (html: string, name: string): string => {
  const value = new RegExp(`${name}="([^"]*)"`).exec(html)?.[1]
  if (value === undefined) throw new Error(`the page has no ${name}`)
  return unescapeHtml(value)
}

type Note = (text: string) => void
type Landed = Awaited<ReturnType<PageBrowser['submit']>>
type Page = { html: string; path: string; location: string | null; response: Response }

/** A user with a browser and an authenticator, who follows links and fills in forms. */
export class Person {
  readonly #origin: string
  readonly #note: Note
  #browser: PageBrowser
  #passkey: { id: string; privateKey: KeyObject } | null = null
  readonly address: string

  constructor(origin: string, address: string, note: Note) {
    this.#origin = origin
    this.#note = note
    this.#browser = new PageBrowser(origin)
    this.address = address
  }

  /** Signs in by a code, from the link of the relying party. Returns the final redirect. */
  async signIn(link: URL): Promise<URL> {
    return this.#finish(await this.#enterCode(link))
  }

  /** Signs in by a code on a device that can create passkeys, and creates one. */
  async signInAndCreatePasskey(link: URL): Promise<URL> {
    const offer = await this.#enterCode(link, { platform: '1' })
    const { response, privateKey } = createCredential(JSON.parse(readAttribute(offer.html, 'data-options')), {
      origin: this.#origin,
    })
    this.#passkey = { id: response.id, privateKey }
    this.#note('the page offers a passkey; the device creates it')
    const registration = JSON.stringify(response)
    return this.#finish(await this.#submit(offer, { step: 'create-passkey', registration }))
  }

  /** Signs in by the passkey in a new browser on the device. */
  async signInByPasskey(link: URL): Promise<URL> {
    if (!this.#passkey) throw new Error('no passkey was created')
    this.#browser = new PageBrowser(this.#origin)
    const page = await this.#open(link)
    const options = {
      challenge: readAttribute(page.html, 'data-challenge'),
      rpId: readAttribute(page.html, 'data-rp-id'),
    }
    this.#note('the hosted page asks for an address; the passkey is used instead, without a user name')
    const assertion = createAssertion(this.#passkey, options, { origin: this.#origin })
    return this.#finish(await this.#submit(page, { step: 'passkey', assertion }))
  }

  /** Signs up: proves the address and enters a name. */
  async signUp(link: URL, name: string): Promise<URL> {
    const page = await this.#enterCode(link)
    this.#note(`the address has no account; the page asks for a name, and "${name}" is entered`)
    return this.#finish(await this.#submit(page, { step: 'create', name }))
  }

  /** Signs in at an identity provider, as one of its subjects. */
  async signInAt(link: URL, idpId: string, subject: string): Promise<URL> {
    const transfer = await this.#submit(await this.#open(link), { step: 'provider', idp: idpId })
    const request = new URL(
      unescapeHtml((transfer.response.headers.get('refresh') ?? '').replace('0;url=', '')),
    )
    this.#note(`"Continue with" leads to ${request.origin}, which signs in its user "${subject}"`)
    request.searchParams.set('login_hint', subject)
    const visit = openUpstreamBrowser()
    let next = request.href
    while (!next.startsWith(this.#origin)) next = await visit(next)
    return this.#finish(await this.#open(new URL(next)))
  }

  /** Opens a link that redirects to the relying party without a page. */
  async open(link: URL): Promise<URL> {
    return this.#finish(await this.#open(link))
  }

  async #open({ pathname, search }: URL): Promise<Page> {
    return this.#read(await this.#browser.open(pathname + search))
  }

  async #submit(page: Page, form: Record<string, string>): Promise<Page> {
    return this.#read(await this.#browser.submit(page, form))
  }

  /** Reads the page; consents where it asks. */
  async #read({ response, path, location }: Landed): Promise<Page> {
    const html = location === null ? await response.text() : ''
    const page = { html, path, location, response }
    if (!html.includes('value="allow"')) return page
    this.#note('the page lists what the client requests; "Allow" is pressed')
    return this.#submit(page, { step: 'allow' })
  }

  async #enterCode(link: URL, form: Record<string, string> = {}): Promise<Page> {
    const before = await countMessages(this.#origin, this.address)
    const start = await this.#open(link)
    this.#note(`the hosted page asks for an address; ${this.address} is entered`)
    const page = await this.#submit(start, { step: 'email', address: this.address, ...form })
    const code = await readCode(this.#origin, this.address, before)
    this.#note('a six-digit code arrives in the inbox and is entered')
    return this.#submit(page, { step: 'code', code })
  }

  #finish({ location, response }: Page): URL {
    if (!location) throw new Error(`the provider showed a page (${response.status}) instead of going back`)
    return new URL(location)
  }
}
