/** Starts the page. */
import { render } from 'preact';
import { App } from './app.js';
import { showGroupOf } from './root.js';
import { Store } from './store.js';

const place = document.getElementById('page');
if (place !== null) {
  showGroupOf(location.search);
  const store = new Store(place.dataset.page ?? '');
  place.replaceChildren();
  render(<App store={store} />, place);
  void store.run();
}
