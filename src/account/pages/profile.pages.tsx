import type { VNode } from 'preact'
import { StepForm } from '../../pages/page-shell.pages.tsx'
import { SubmitButton } from '../../pages/parts/controls.pages.tsx'
import { Message } from '../../pages/parts/words.pages.tsx'
import { FieldInput } from '../../sign-up/field-input.pages.tsx'
import { groupProfileFields, type SignUpField } from '../../sign-up/sign-up-fields.ts'
import { type AccountPageProps, AccountShell } from './account-shell.pages.tsx'

type ProfilePageProps = AccountPageProps & {
  fields: readonly SignUpField[]
  /** The values of the fields, as stored or as entered. */
  values: Record<string, string>
  /** When the shown values were stored: a change in between is not overwritten. */
  updatedAt: string
  /** What is wrong with the entered values, by the name of the field. */
  issues?: Record<string, string>
}

/** The user's own profile. Posts `step=save`, `updated-at` and the fields. */
export const ProfilePage = ({
  form,
  fields,
  values,
  updatedAt,
  issues = {},
  ...shell
}: ProfilePageProps): VNode => (
  <AccountShell {...shell} title="account.profile" lead={<Message of="profile.lead" />}>
    <StepForm interaction={form} step="save" class="stack">
      <input type="hidden" name="updated-at" value={updatedAt} />
      {groupProfileFields(fields).map(({ group, fields: members }) => (
        <fieldset key={group}>
          <legend>
            <Message of={`profile.${group}`} />
          </legend>
          <div class="columns">
            {members.map((field) => (
              <FieldInput
                key={field.name}
                field={field}
                value={values[field.name]}
                issue={issues[field.name]}
                hasFocus={field.name === Object.keys(issues)[0]}
                showsOptional={false}
              />
            ))}
          </div>
        </fieldset>
      ))}
      <SubmitButton of="profile.save" />
    </StepForm>
  </AccountShell>
)
