/** A minimal browser for hosted pages: cookies, forms, and redirects one at a time. */
export class PageBrowser {
  readonly cookies = new Map<string, string>()
  readonly #origin: string

  constructor(origin: string) {
    this.#origin = origin
  }

  /** Forgets the sessions of all accounts, but not that it is a known browser. */
  forgetSessions(): void {
    for (const name of [...this.cookies.keys()]) if (/^vst_(sid|acc)/.test(name)) this.cookies.delete(name)
  }

  /** The token of the current session, at one tenant; undefined without one. */
  get sessionToken(): string | undefined {
    return [...this.cookies].find(([name]) => name.startsWith('vst_sid_'))?.[1]
  }

  /** The name of the cookie that binds the interaction of a page, and its value. */
  get binding(): [name: string, value: string] | undefined {
    return [...this.cookies].findLast(([name]) => name.startsWith('vst_ix_'))
  }

  async fetch(path: string, init: RequestInit = {}): Promise<Response> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const response = await fetch(new URL(path, this.#origin), {
      redirect: 'manual',
      ...init,
      headers: { ...(cookie && { cookie }), ...init.headers },
    })
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      if (/Max-Age=0\b/.test(line)) this.cookies.delete(name)
      else this.cookies.set(name, value)
    }
    return response
  }

  /** Follows redirects to pages of the provider; stops at a page or at a redirect to another origin. */
  async follow(response: Response): Promise<{ response: Response; path: string; location: string | null }> {
    let current = response
    let path = ''
    for (let hop = 0; hop < 10; hop++) {
      const location = current.headers.get('location')
      if (!location?.startsWith('/')) return { response: current, path, location }
      path = location
      current = await this.fetch(location)
    }
    throw new Error('the provider redirects in a circle')
  }

  open = async (path: string) => this.follow(await this.fetch(path))

  post = (
    path: string,
    form: Record<string, string>,
    headers: Record<string, string> = {},
  ): Promise<Response> => this.fetch(path, { method: 'POST', body: new URLSearchParams(form), headers })

  /** Submits a form of a page: its CSRF token, and the given input. */
  async submit(page: { html: string; path: string }, form: Record<string, string>) {
    return this.follow(await this.post(page.path, { csrf: csrfIn(page.html), ...form }))
  }
}

/** The account that a page on which the user chooses one shows for an address; the first one by default. */
export const accountIn = (html: string, address = ''): string => {
  const items = html.split('<li>').slice(1)
  const item = items.find((text) => text.includes(address)) ?? ''
  return /name="account" value="([^"]+)"/.exec(item)?.[1] ?? ''
}

export const csrfIn = (html: string): string => /name="csrf" value="([^"]+)"/.exec(html)?.[1] ?? ''
