import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

const LIBRARY = readFileSync(
  new URL('../../node_modules/oidc-client-ts/dist/browser/oidc-client-ts.min.js', import.meta.url),
)

const pageOf = (script: string): string =>
  `<!doctype html><meta charset="utf-8"><title>App</title><h1>App</h1><script src="/oidc-client-ts.js"></script><script>${script}</script>`

/** An application without a server, built on the published oidc-client-ts. */
export type SinglePage = {
  origin: string
  /** The redirect URIs of the application. */
  callbacks: string[]
  /** The post_logout_redirect_uri. */
  signedOut: string
  /** Call after the client is registered with the callbacks. */
  connect: (issuer: string, clientId: string, scope: string, loadUserInfo: boolean) => void
  close: () => void
}

/**
 * Serves the application on its own origin: `/` has `window.manager`, a UserManager; other paths end its
 * flows.
 */
export async function startSinglePage(): Promise<SinglePage> {
  let settings = {}
  const managed = (script: string) =>
    pageOf(`window.manager = new oidc.UserManager(${JSON.stringify(settings)}); ${script}`)
  const pages: Record<string, () => string> = {
    '/': () => managed(''),
    '/callback': () =>
      managed(
        `manager.signinCallback().then(() => { document.title = 'Signed in' }, (error) => { document.title = error.message })`,
      ),
    '/silent': () => managed('manager.signinSilentCallback()'),
    '/popup': () => managed('manager.signinPopupCallback()'),
    '/signed-out': () =>
      managed(`manager.signoutRedirectCallback().then(() => { document.title = 'Signed out' })`),
  }
  const server = createServer((request, response) => {
    const path = new URL(request.url ?? '/', 'http://localhost').pathname
    if (path === '/oidc-client-ts.js')
      return response.writeHead(200, { 'content-type': 'text/javascript' }).end(LIBRARY)
    const page = pages[path]
    return page
      ? response.writeHead(200, { 'content-type': 'text/html' }).end(page())
      : response.writeHead(404).end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const origin = `http://localhost:${(server.address() as AddressInfo).port}`
  return {
    origin,
    callbacks: ['/callback', '/silent', '/popup'].map((path) => origin + path),
    signedOut: `${origin}/signed-out`,
    connect: (issuer, clientId, scope, loadUserInfo) => {
      settings = {
        authority: issuer,
        client_id: clientId,
        redirect_uri: `${origin}/callback`,
        silent_redirect_uri: `${origin}/silent`,
        popup_redirect_uri: `${origin}/popup`,
        post_logout_redirect_uri: `${origin}/signed-out`,
        scope,
        loadUserInfo,
        automaticSilentRenew: false,
        silentRequestTimeoutInSeconds: 10,
      }
    },
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}
