import type { VNode } from 'preact'
import { BidiText, ClientName } from '../../pages/page-shell.pages.tsx'
import { ApiItem } from '../../pages/parts/api-item.pages.tsx'
import { PlainList, StepButton } from '../../pages/parts/controls.pages.tsx'
import { Hint, Message, useWords } from '../../pages/parts/words.pages.tsx'
import { type AccountPageProps, AccountShell } from './account-shell.pages.tsx'
import { Moment } from './moment.pages.tsx'

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

type AppsPageProps = AccountPageProps & {
  apps: readonly ShownApp[]
  /** There are more than the page shows. */
  hasMore: boolean
}

/** Lists the apps that the user has consented to. Posts `step=remove` with `client`. */
export function AppsPage({ form, timeZone, apps, hasMore, ...shell }: AppsPageProps): VNode {
  const words = useWords()
  return (
    <AccountShell {...shell} title="account.apps" lead={<Message of="apps.lead" />}>
      {apps.length === 0 && <Hint of="apps.none" />}
      {apps.length > 0 && (
        <PlainList class="messages">
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
              <Hint of="apps.since" time={<Moment at={since} timeZone={timeZone} />} />
              <StepButton
                interaction={form}
                step="remove"
                of="apps.remove"
                look="secondary"
                fields={{ client: clientId }}
                label={words.text('apps.removeName', { name })}
              />
            </li>
          ))}
        </PlainList>
      )}
      {hasMore && <Hint of="apps.more" />}
    </AccountShell>
  )
}
