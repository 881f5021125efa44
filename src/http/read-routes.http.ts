import type { EventHandler, H3 } from 'h3'

/** Adds a path that is read by GET and HEAD (RFC 9110, sections 9.3.1 and 9.3.2). Node omits the body for HEAD. */
export function addReadRoute(app: H3, path: string, handle: EventHandler): void {
  app.get(path, handle)
  app.on('HEAD', path, handle)
}
