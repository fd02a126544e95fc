package web

// pages are all pages, those with a title in the order of the navigation.
func pages() []*Page {
	return []*Page{nowPage, queuePage, poolPage, jobPage, logPage, actPage}
}
