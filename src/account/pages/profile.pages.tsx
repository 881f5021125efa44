import type { VNode } from 'preact'
import { type PageInteraction, type PageTenant, StepForm } from '../../pages/page-shell.pages.tsx'
import { Message } from '../../pages/words.pages.tsx'
import { FieldInput } from '../../sign-up/field-input.pages.tsx'
import type { SignUpField } from '../../sign-up/sign-up-fields.ts'
import { AccountShell } from './account-shell.pages.tsx'
import type { Notice } from './notices.ts'

type ProfilePageProps = {
  tenant: PageTenant
  form: PageInteraction
  fields: readonly SignUpField[]
  /** The values of the fields, as stored or as entered. */
  values: Record<string, string>
  /** When the shown values were stored: a change in between is not overwritten. */
  updatedAt: string
  notice?: Notice | null
  messages?: readonly string[]
}

const GROUPS = [
  ['profile.names', ['name', 'givenName', 'middleName', 'familyName', 'nickname', 'preferredUsername']],
  ['profile.about', ['birthdate', 'gender', 'website']],
  ['profile.region', ['locale', 'zoneinfo']],
] as const

/** The user's own profile. Posts `step=save`, `updated-at` and the fields. */
export const ProfilePage = ({
  tenant,
  form,
  fields,
  values,
  updatedAt,
  ...shell
}: ProfilePageProps): VNode => (
  <AccountShell
    tenant={tenant}
    title={<Message of="account.profile" />}
    lead={<Message of="profile.lead" />}
    {...shell}
  >
    <StepForm interaction={form} step="save" class="stack">
      <input type="hidden" name="updated-at" value={updatedAt} />
      {GROUPS.map(([legend, names]) => (
        <fieldset key={legend}>
          <legend>
            <Message of={legend} />
          </legend>
          <div class="columns">
            {names
              .flatMap((name) => fields.find((field) => field.name === name) ?? [])
              .map((field) => (
                <FieldInput
                  key={field.name}
                  field={field}
                  value={values[field.name]}
                  hasFocus={false}
                  showsOptional={false}
                />
              ))}
          </div>
        </fieldset>
      ))}
      <button type="submit" class="primary">
        <Message of="profile.save" />
      </button>
    </StepForm>
  </AccountShell>
)
