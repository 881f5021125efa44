import type { Reader } from '../model/language-sources.ts'
import { ProviderTransferPage } from './provider-transfer.pages.tsx'
import { addRefresh, renderComponent } from './responses.http.ts'

/** Sends the browser to a provider after a form: by a page, because form-action applies to redirects. */
export function transferToProvider(
  reader: Reader,
  page: Parameters<typeof ProviderTransferPage>[0],
  isPopup = false,
): Response {
  return addRefresh(renderComponent(reader, ProviderTransferPage, page, { isPopup }), page.url)
}
