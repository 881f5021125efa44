import { renderComponent } from '../../pages/responses.http.ts'
import { collectOwnData } from '../own-data.ts'
import type { AccountPage } from './account-page.http.ts'
import { DataPage } from './data.pages.tsx'

/** The download of what is stored about the user. */
export const DATA_PAGE: AccountPage = {
  path: '/data',
  needsRecentSignIn: true,
  show: async ({ call, form }) => renderComponent(call.ctx, DataPage, { tenant: call.tenant, form }),
  forms: {
    download: async ({ ctx }) =>
      new Response(`${JSON.stringify(await collectOwnData(ctx), null, 2)}\n`, {
        headers: {
          'content-type': 'application/json',
          'content-disposition': `attachment; filename="${ctx.tenant}-account.json"`,
          'cache-control': 'no-store',
          'x-content-type-options': 'nosniff',
        },
      }),
  },
}
