import { CheckField, Field } from '../../parts/form.tsx'
import type { Problem } from '../../parts/result.ts'
import { t } from '../../words/words.ts'

/** A permission as the form has it. The name of one that is saved does not change: roles have it by the name. */
export type PermissionRow = {
  name: string
  description: string
  translations: string
  isAllowedInOrganizations: boolean
  isNew?: true
  isRemoved?: true
}

/** A field of one text. */
export function TextField({
  value,
  onEnter,
  rows,
  type,
  ...field
}: {
  label: string
  name: string
  hint?: string | undefined
  problem: Problem | null
  value: string
  onEnter: (value: string) => void
  rows?: number
  type?: string
}) {
  const { hint, ...described } = field
  return (
    <Field {...described} {...(hint !== undefined && { hint })}>
      {(props) => {
        const attributes = {
          ...props,
          value,
          autoComplete: 'off',
          onChange: ({ target }: { target: { value: string } }) => onEnter(target.value),
        }
        return rows ? <textarea {...attributes} rows={rows} /> : <input {...attributes} type={type} />
      }}
    </Field>
  )
}

/** The permissions of an API, a row each. One that is removed is crossed out until the API is saved. */
export function ApiPermissions({
  rows,
  mayWrite,
  problem,
  onChange,
}: {
  rows: readonly PermissionRow[]
  mayWrite: boolean
  problem: Problem | null
  onChange: (rows: readonly PermissionRow[]) => void
}) {
  const replace = (index: number, change: Partial<PermissionRow>) =>
    onChange(rows.map((row, place) => (place === index ? { ...row, ...change } : row)))
  return (
    <section className="card">
      <h2>{t('Permissions')}</h2>
      {rows.length === 0 && <p className="empty">{t('The API has no permissions yet.')}</p>}
      <fieldset className="plain" disabled={!mayWrite} aria-label={t('Permissions')}>
        {rows.map((row, index) => {
          if (row.isRemoved)
            return (
              // biome-ignore lint/suspicious/noArrayIndexKey: rows keep their places
              <div key={index} className="permission removed">
                <p>
                  <del>
                    <code>{row.name}</code>
                  </del>{' '}
                  {t('is removed when you save: every role that has it loses it.')}
                </p>
                <button
                  type="button"
                  className="button quiet"
                  onClick={() =>
                    onChange(
                      rows.map(({ isRemoved, ...kept }, place) =>
                        place === index || !isRemoved ? kept : { ...kept, isRemoved },
                      ),
                    )
                  }
                >
                  {t('Keep {name}', { name: row.name })}
                </button>
              </div>
            )
          // Problems name the rows that were sent.
          const place = rows.slice(0, index).filter(({ isRemoved }) => !isRemoved).length
          const toField = (
            name: keyof PermissionRow,
            label: string,
            hint: string | undefined,
            lines?: number,
          ) => (
            <TextField
              label={label}
              name={`permissions.${place}.${name}`}
              hint={hint}
              problem={problem}
              value={String(row[name] ?? '')}
              onEnter={(value) => replace(index, { [name]: value })}
              {...(lines !== undefined && { rows: lines })}
            />
          )
          return (
            // biome-ignore lint/suspicious/noArrayIndexKey: rows keep their places
            <fieldset key={index} className="permission" aria-label={row.name || t('New permission')}>
              {row.isNew ? (
                toField('name', t('Permission'), t('Such as orders:read'))
              ) : (
                <code>{row.name}</code>
              )}
              {toField('description', t('Description'), undefined)}
              {toField(
                'translations',
                t('In other languages'),
                t('One a line, such as de: Bestellungen lesen'),
                1,
              )}
              <CheckField
                label={t('For own roles of organizations')}
                checked={row.isAllowedInOrganizations}
                onChange={(isAllowedInOrganizations) => replace(index, { isAllowedInOrganizations })}
              />
              {mayWrite && (
                <button
                  type="button"
                  className="button quiet"
                  aria-label={t('Remove {name}', { name: row.name })}
                  onClick={() =>
                    row.isNew
                      ? onChange(rows.filter((_, other) => other !== index))
                      : replace(index, { isRemoved: true })
                  }
                >
                  {t('Remove')}
                </button>
              )}
            </fieldset>
          )
        })}
      </fieldset>
      {mayWrite && (
        <div className="actions">
          <button
            type="button"
            className="button quiet"
            onClick={() =>
              onChange([
                ...rows,
                {
                  name: '',
                  description: '',
                  translations: '',
                  isAllowedInOrganizations: false,
                  isNew: true,
                },
              ])
            }
          >
            {t('Add a permission')}
          </button>
        </div>
      )}
    </section>
  )
}
