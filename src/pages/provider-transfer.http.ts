import type { Reader } from '../core/context.ts'
import { ProviderTransferPage } from './provider-transfer.pages.tsx'
import { renderComponent } from './responses.http.ts'

/** Sends the browser to a provider after a form: by a page, because form-action applies to redirects. */
export function transferToProvider(
  reader: Reader,
  page: Parameters<typeof ProviderTransferPage>[0],
  isPopup = false,
): Response {
  const response = renderComponent(reader, ProviderTransferPage, page, { isPopup })
  response.headers.set('refresh', `0;url=${page.url}`)
  return response
}
