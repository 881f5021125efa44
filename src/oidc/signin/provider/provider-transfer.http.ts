import type { ComponentProps } from 'preact'
import { renderComponent } from '../../../pages/responses.http.ts'
import { ProviderTransferPage } from './provider-transfer.pages.tsx'

/** Sends the browser to a provider after a form: by a page, because form-action applies to redirects. */
export function transferToProvider(
  page: ComponentProps<typeof ProviderTransferPage>,
  isPopup = false,
): Response {
  const response = renderComponent(ProviderTransferPage, page, { isPopup })
  response.headers.set('refresh', `0;url=${page.url}`)
  return response
}
