// Opens the REST reference of a running bankgraph in headless Chromium, authorizes with a demo key
// and tries an operation. Prints one line for each thing it saw; exit status 1 with the reason otherwise.
//
//   BASE_URL=http://127.0.0.1:8080 [SCREENSHOT=docs.png] [CHROMIUM=/usr/bin/chromium] node e2e/docs.mjs

import assert from 'node:assert/strict';
import { chromium } from 'playwright-core';

const base = new URL(process.env.BASE_URL ?? 'http://127.0.0.1:8080');
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
});

try {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 }, deviceScaleFactor: 2 });
  const outside = [];
  const complaints = [];
  page.on('request', (request) => {
    const { protocol, host } = new URL(request.url());
    if (!['data:', 'blob:'].includes(protocol) && host !== base.host) outside.push(request.url());
  });
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));

  await page.goto(new URL('/docs', base).href);
  const operations = page.locator('.opblock');
  await operations.first().waitFor({ timeout: 20_000 });
  assert.equal(await page.title(), 'bankgraph · REST reference');
  seen(`the page lists ${await operations.count()} operations`);
  if (process.env.SCREENSHOT) await page.screenshot({ path: process.env.SCREENSHOT });

  assert.equal(await page.getByRole('textbox', { name: 'Tenant' }).inputValue(), 'sandbox');
  await page.getByRole('textbox', { name: 'Tenant' }).fill('other-bank');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Authorize' }).first().click();
  const dialog = page.locator('.modal-ux');
  await dialog.getByText('/auth/realms/other-bank/').waitFor();
  await dialog.getByRole('button', { name: 'Close' }).last().click();
  await page.getByRole('textbox', { name: 'Tenant' }).fill('sandbox');
  await page.keyboard.press('Enter');
  seen('the token address follows the tenant');

  await page.getByRole('button', { name: 'Authorize' }).first().click();
  await dialog.getByText('/auth/realms/sandbox/').waitFor();
  const flow = dialog.locator('.auth-container', { has: page.locator('#client_id_clientCredentials') });
  await flow.locator('#client_id_clientCredentials').fill('demo-staff');
  await flow.locator('#client_secret_clientCredentials').fill('demo-staff-secret');
  assert.ok(await flow.locator('input[type=checkbox]').isChecked(), 'the scope roles is chosen');
  await flow.locator('button.authorize').click();
  await dialog.getByText('Logout').waitFor();
  if (process.env.SCREENSHOT_AUTHORIZED) await page.screenshot({ path: process.env.SCREENSHOT_AUTHORIZED });
  await dialog.getByRole('button', { name: 'Close' }).last().click();
  seen('client credentials get a token');

  const get = page.locator('.opblock', { has: page.locator('[data-path="/v2/customers/{customerUID}"]') }).and(page.locator('.opblock-get'));
  await get.locator('.opblock-summary-control').click();
  await get.getByPlaceholder('customerUID').fill('1000001');
  await get.getByRole('button', { name: 'Execute' }).click();
  await get.locator('.live-responses-table .response-col_status', { hasText: '200' }).waitFor();
  if (process.env.SCREENSHOT_TRIED) await page.screenshot({ path: process.env.SCREENSHOT_TRIED });
  seen('GET /v2/customers/1000001 answers 200 with that token');

  assert.ok((await page.locator('.info').textContent()).includes(`${base.origin}/auth/realms/sandbox/`), 'the curl names this address');
  assert.equal(await page.locator('.opblock-tag[data-is-open=true]').filter({ hasText: 'Former' }).count(), 0, 'what was before is folded');
  assert.ok((await page.locator('.opblock-tag').filter({ hasText: 'Former' }).count()) > 3);
  seen('the curl names the address that serves it, and older generations are folded');

  await page.route('**/sandbox/clock', (route) => route.fulfill({ json: { data: { now: '2031-05-07T02:00:00Z' } } }));
  await page.reload();
  await page.getByRole('button', { name: 'demo-partner' }).click();
  await page.getByText('Signed in as demo-partner').waitFor();
  const search = page.locator('#operations-Customers-searchCustomersV2');
  await search.locator('.opblock-summary-control').click();
  await search.getByRole('button', { name: 'Execute' }).click();
  await search.locator('.live-responses-table .response-col_status', { hasText: '200' }).waitFor();
  await search.getByText('customers_v2_search').first().waitFor({ state: 'attached' });
  seen('a demo key signs in with one press, and the operation shows its example');
  for (const id of ['createPositiveRule', 'bookTransfer']) {
    const dated = page.locator(`.opblock[id$="-${id}"]`);
    await dated.locator('.opblock-summary-control').click();
    await dated.locator('textarea.body-param__text').filter({ hasText: '05-06-2031' }).waitFor();
  }
  seen("dates of requests are of the sandbox's day, in the bank's zone");

  await page.waitForFunction((el) => el.value === '1000013', await get.getByPlaceholder('customerUID').elementHandle()).catch(() => {});
  assert.equal(await get.getByPlaceholder('customerUID').inputValue(), '1000013', 'the example is one of the partner');
  await get.getByRole('button', { name: 'Execute' }).click();
  await get.locator('.live-responses-table .response-col_status', { hasText: '200' }).waitFor();
  await page.getByRole('button', { name: 'demo-linda' }).click();
  await page.getByText('Signed in as demo-linda').waitFor();
  assert.equal(await get.getByPlaceholder('customerUID').inputValue(), '1000001', 'and of the bank again for its people');
  seen('the examples are of customers that the key sees');

  const signatories = page.locator('#codes details', { hasText: 'Signatories' });
  await signatories.locator('summary').click();
  await signatories.getByText('SIG_EMAIL_CONFLICT').waitFor();
  if (process.env.SCREENSHOT_CODES) await signatories.screenshot({ path: process.env.SCREENSHOT_CODES });
  seen('the table of codes unfolds');

  await page.emulateMedia({ colorScheme: 'dark' });
  for (const [width, name] of [[1280, 'WIDE'], [420, 'NARROW']]) {
    await page.setViewportSize({ width, height: 900 });
    const over = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    assert.ok(over <= 0, `the page is ${over} wider than the window of ${width}`);
    if (process.env[`SCREENSHOT_DARK_${name}`]) await page.screenshot({ path: process.env[`SCREENSHOT_DARK_${name}`] });
  }
  seen('it is dark where that is asked for, and no wider than the window');

  assert.deepEqual(outside, [], 'requests to other hosts');
  assert.deepEqual(complaints, [], 'errors in the console');
  seen('no request left the host, no error stood in the console');
} finally {
  await browser.close();
}

function seen(what) {
  console.log(`ok  ${what}`);
}
