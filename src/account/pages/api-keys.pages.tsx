import type { VNode } from 'preact'
import { BidiText, StepForm } from '../../pages/page-shell.pages.tsx'
import { Fact, PlainList, StepButton, SubmitButton } from '../../pages/parts/controls.pages.tsx'
import { markSecret } from '../../pages/parts/page-secret.pages.tsx'
import { Hint, Message, Paragraph, useWords } from '../../pages/parts/words.pages.tsx'
import { AccountItem, type AccountPageProps, AccountShell } from './account-shell.pages.tsx'
import { Moment } from './moment.pages.tsx'

/** An API key as its user knows it: what it permits are scopes, or the names of APIs. */
export type ShownApiKey = {
  id: string
  name: string
  start: string
  permits: readonly string[]
  lastUsedAt: Date | null
  expiresAt: Date
}

type ApiKeysPageProps = AccountPageProps & {
  apiKeys: readonly ShownApiKey[]
  /** What a new key may be for; null where the tenant does not permit new keys. */
  offer: { scopes: readonly string[]; apis: readonly { resource: string; name: string }[] } | null
}

const SCOPE_PREFIX = 'scope:'
/** The scopes of the checkboxes of a posted form. */
export const readChosenScopes = (form: Record<string, string>): string[] =>
  Object.keys(form).flatMap((name) =>
    name.startsWith(SCOPE_PREFIX) ? [name.slice(SCOPE_PREFIX.length)] : [],
  )

const ApiKeyItem = ({
  apiKey: { id, name, start, permits, lastUsedAt, expiresAt },
  form,
  timeZone,
}: { apiKey: ShownApiKey } & Pick<ApiKeysPageProps, 'form' | 'timeZone'>): VNode => (
  <AccountItem heading={<BidiText>{name}</BidiText>} tag={<BidiText>{`${start}…`}</BidiText>}>
    <dl class="claims">
      {permits.length > 0 && (
        <Fact of="apiKeys.permits">
          <BidiText>{permits.join(', ')}</BidiText>
        </Fact>
      )}
      <Fact of="account.lastUsed">
        {lastUsedAt ? <Moment at={lastUsedAt} timeZone={timeZone} /> : <Message of="account.never" />}
      </Fact>
      <Fact of="apiKeys.expires">
        <Moment at={expiresAt} timeZone={timeZone} />
      </Fact>
    </dl>
    <StepButton
      interaction={form}
      step="revoke"
      of="apiKeys.revoke"
      look="secondary"
      fields={{ key: id }}
      label={useWords().text('apiKeys.revokeName', { name })}
    />
  </AccountItem>
)

const NewApiKeyForm = ({
  form,
  offer: { scopes, apis },
}: Pick<ApiKeysPageProps, 'form'> & { offer: NonNullable<ApiKeysPageProps['offer']> }): VNode => (
  <StepForm interaction={form} step="create" class="stack">
    <div class="field">
      <label for="key-name">
        <Message of="label.apiKey" />
      </label>
      <input id="key-name" name="name" type="text" autocomplete="off" dir="auto" maxLength={200} required />
    </div>
    {apis.length > 0 && (
      <div class="field">
        <label for="key-api">
          <Message of="apiKeys.api" />
        </label>
        <select id="key-api" name="resource">
          <option value="" />
          {apis.map(({ resource, name }) => (
            <option key={resource} value={resource}>
              {name}
            </option>
          ))}
        </select>
      </div>
    )}
    {scopes.length > 0 && (
      <fieldset class="field">
        <legend>
          <Message of="apiKeys.permits" />
        </legend>
        {scopes.map((scope) => (
          <div key={scope} class="check">
            <input id={`key-${scope}`} name={`${SCOPE_PREFIX}${scope}`} type="checkbox" value="on" />
            <label for={`key-${scope}`}>
              <BidiText>{scope}</BidiText>
            </label>
          </div>
        ))}
      </fieldset>
    )}
    <SubmitButton of="apiKeys.create" />
  </StepForm>
)

/** Lists the API keys of the user. Posts `step=revoke` with `key`, or `step=create` with `name`, `resource` and scopes. */
export const ApiKeysPage = ({ form, timeZone, apiKeys, offer, ...shell }: ApiKeysPageProps): VNode => (
  <AccountShell {...shell} title="account.apiKeys" lead={<Message of="apiKeys.lead" />}>
    {apiKeys.length === 0 ? (
      <Hint of="apiKeys.none" />
    ) : (
      <PlainList class="messages">
        {apiKeys.map((apiKey) => (
          <ApiKeyItem key={apiKey.id} apiKey={apiKey} form={form} timeZone={timeZone} />
        ))}
      </PlainList>
    )}
    {offer && <NewApiKeyForm form={form} offer={offer} />}
  </AccountShell>
)

/** Shows a new API key, once. */
export const NewApiKeyPage = ({
  tenant,
  apiKey,
}: Pick<AccountPageProps, 'tenant'> & { apiKey: string }): VNode => {
  markSecret()
  return (
    <AccountShell tenant={tenant} title="account.apiKeys" lead={<Message of="apiKeys.lead" />}>
      <Paragraph of="apiKeys.shown" />
      <p>
        <code class="key">{apiKey}</code>
      </p>
    </AccountShell>
  )
}
