import type { VNode } from 'preact'
import {
  BidiText,
  ClientName,
  type PageInteraction,
  type PageTenant,
  StepForm,
} from '../../pages/page-shell.pages.tsx'
import { ApiItem } from '../../pages/parts/api-item.pages.tsx'
import { Message, useWords } from '../../pages/parts/words.pages.tsx'
import { AccountShell } from './account-shell.pages.tsx'
import { Moment } from './moment.pages.tsx'
import type { Notice } from './notices.ts'

/** An app that the user has given access to the account. */
export type ShownApp = {
  clientId: string
  name: string
  /** Its home page. */
  clientUri: string | null
  words: readonly string[]
  apis: readonly string[]
  since: Date
}

type AppsPageProps = {
  tenant: PageTenant
  form: PageInteraction
  timeZone: string | null
  apps: readonly ShownApp[]
  /** There are more than the page shows. */
  hasMore: boolean
  notice?: Notice | null
  messages?: readonly string[]
}

/** Lists the apps that the user has consented to. Posts `step=remove` with `client`. */
export function AppsPage({ tenant, form, timeZone, apps, hasMore, ...shell }: AppsPageProps): VNode {
  const words = useWords()
  return (
    <AccountShell
      tenant={tenant}
      title={<Message of="account.apps" />}
      lead={<Message of="apps.lead" />}
      {...shell}
    >
      {apps.length === 0 && (
        <p class="hint">
          <Message of="apps.none" />
        </p>
      )}
      {apps.length > 0 && (
        // biome-ignore lint/a11y/noRedundantRoles: VoiceOver does not announce a list without bullets as a list.
        <ul class="messages" role="list">
          {apps.map(({ clientId, name, clientUri, words: asks, apis, since }) => (
            <li class="message" key={clientId}>
              <h2>
                <ClientName name={name} clientUri={clientUri} />
              </h2>
              <ul class="asks">
                {asks.map((each) => (
                  <li key={each}>
                    <BidiText>{words.translate(each)}</BidiText>
                  </li>
                ))}
                {apis.map((api) => (
                  <ApiItem key={api} api={api} />
                ))}
              </ul>
              <p class="hint">
                <Message of="apps.since" time={<Moment at={since} timeZone={timeZone} />} />
              </p>
              <StepForm interaction={form} step="remove">
                <input type="hidden" name="client" value={clientId} />
                <button type="submit" class="secondary" aria-label={words.text('apps.removeName', { name })}>
                  <Message of="apps.remove" />
                </button>
              </StepForm>
            </li>
          ))}
        </ul>
      )}
      {hasMore && (
        <p class="hint">
          <Message of="apps.more" />
        </p>
      )}
    </AccountShell>
  )
}
