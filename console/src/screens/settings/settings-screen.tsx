import { deployment } from '../../config.ts'
import { CopiedText } from '../../parts/copied-text.tsx'
import { PAGE_LANGUAGES } from '../../parts/languages.ts'
import {
  CheckSetting,
  ChoiceSetting,
  DurationSetting,
  LinesSetting,
  NumberSetting,
  TextSetting,
} from '../../parts/setting-fields.tsx'
import { SettingsForm } from '../../parts/settings-form.tsx'
import { t } from '../../words/words.ts'

/** The settings of the tenant that are not about the sign-in or the brand. */
export const SettingsScreen = () => (
  <SettingsForm title={t('Tenant')}>
    <div className="setting-cards">
      <section className="card">
        <h2>{t('Name')}</h2>
        <TextSetting name="friendlyName" hint={t('On pages and in mails. Without one, it is the slug.')} />
        <div className="field">
          <span>{t('Slug')}</span>
          <CopiedText text={deployment.tenant} />
          <p className="hint">{t('It is part of the URLs of the tenant and never changes.')}</p>
        </div>
        <div className="field">
          <span>{t('Issuer')}</span>
          <CopiedText text={deployment.issuer} />
        </div>
      </section>
      <section className="card">
        <h2>{t('People')}</h2>
        <TextSetting
          name="supportUrl"
          type="url"
          placeholder="https://"
          hint={t('Linked from every page and mail.')}
        />
        <ChoiceSetting name="defaultLocale" options={{ '': 'English', ...PAGE_LANGUAGES }} />
      </section>
      <section className="card">
        <h2>{t('Log')}</h2>
        <NumberSetting name="eventRetentionDays" hint={t('7 to 365.')} />
      </section>
      <section className="card">
        <h2>{t('Applications')}</h2>
        <TextSetting
          name="loginUrl"
          type="url"
          placeholder="https://"
          hint={t('Sign-ins start there instead of on the page of this server.')}
        />
        <TextSetting name="defaultAudience" hint={t('When a request names no resource.')} />
        <LinesSetting name="defaultScopes" hint={t('One a line, such as openid and email.')} />
        <CheckSetting
          name="dynamicRegistration"
          hint={t('Applications register themselves with a token that an administrator issued.')}
        />
        <CheckSetting
          name="openRegistration"
          hint={t('Anybody registers an application, which nobody reviews.')}
        />
        <CheckSetting
          name="clientIdMetadataDocuments"
          hint={t('The JSON document at the URL describes the application.')}
        />
        <CheckSetting name="userApiKeys" hint={t('On their account pages.')} />
        <DurationSetting name="apiKeyLifetimeSeconds" />
        <ChoiceSetting
          name="acceptedDocuments"
          options={{ ANY: t('Any'), TRUSTED: t('Those that are registered for the application') }}
          hint={t('Those of the console are always accepted.')}
        />
      </section>
    </div>
  </SettingsForm>
)
