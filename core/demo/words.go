package demo

import "strings"

// Everything here is invented. Mail domains end in .example, telephone numbers are from 555-0100 to 555-0199,
// tax ids have prefixes that were never assigned, and no bank code is a real bank's.

func words(text string) []string { return strings.Fields(text) }

func lines(text string) []string { return strings.Split(strings.TrimSpace(text), "\n") }

var givenNames = words(`
	Maria James Linda Peter Nina Thomas Grace Omar Hannah Victor Amara Samuel Elena Marcus Priya Daniel Sofia
	Andre Keiko Rafael Ingrid Malik Teresa Julian Fatima Owen Camille Hector Yuki Patrick Leila Brandon Rosa
	Stefan Aisha Nathan Clara Dmitri Bianca Kevin Mei Russell Paula Anton Shirin Gregory Lucia Isaac Tamara
	Walter Noor Benjamin Vera Carlos Ivy Terrence Ana Felix Dolores Henry Simone Raj Audrey Miguel Joy
	Emeka Harriet Luis Greta Damon Salma Wesley Carmen Tobias Ruth Xavier Naomi Colin Esther Diego Fiona
	Arjun Louise Gabriel Wanda Kenji Beatrice Mario Deborah Ethan Gloria Pavel Irene Jamal Celeste Roland
	Zoe Vincent Martha Sanjay`)

var familyNames = words(`
	Alvarez Okafor Chen Novak Larsen Becker Whitfield Haddad Sorensen Marchetti Boateng Ellison Petrov Grant
	Raman Fischer Delgado Lambert Tanaka Moreno Lindqvist Hassan Keller Ortega Rahimi Sullivan Dubois Vargas
	Mori Brennan Nazari Whitaker Castillo Kowalski Diallo Prescott Weiss Volkov Ferreira Hughes Zhang Caldwell
	Santos Bauer Farahani Maddox Rinaldi Goldberg Iversen Hoffman Malik Thornton Sokolova Jimenez Harper Bishop
	Cardoso Adler Pena Nakamura Laurent Iyer Fleming Rivera Ashby Nwosu Kemp Cortez Hansen Bello Aziz Barrett
	Romero Kraus Langley Greene Osei Mercer Quintana Watts Navarro Finch Lopes Sinha Archer Wozniak Silva
	Dunbar Kimura Ellery Costa Pruitt Vance Lindgren Bryant Medina Eriksen Foster Cruz Holloway Nair`)

// The three parts of a company's name before its form.
var (
	places = words(`
		Cedar Harbor Summit Prairie Granite Willow Copper Juniper Lakeview Ridgeline Stonebridge Fairmont Birch
		Redwood Silverton Ashford Maple Canyon Northgate Westbrook Clearwater Pinecrest Brookside Eastport Highland
		Meadow Sandstone Foxglove Ironwood Bayside Thornhill Cobalt Amber Larkspur Mesa Driftwood Kingsley Glenwood
		Orchard Riverbend`)
	trades = lines(`
Logistics
Manufacturing
Medical Supply
Food Distributors
Building Materials
Dental Group
Software
Freight Lines
Property Management
Printing
Electrical Contractors
Veterinary Clinics
Furniture
Auto Parts
Staffing
Packaging
Landscaping
Textiles
Brewing
Machine Works
Seafood
Roofing
Analytics
Travel Services
Pharmacy
Farms
Catering
Instruments
Plumbing Supply
Energy Services`)
	forms = words(`Inc LLC Corp Co LP`)
)

var streets = words(`
	Main Oak Market Washington Lincoln Park Church Mill Elm Walnut Jefferson Franklin Chestnut Union Spring
	Jackson Highland Center Water Prospect`)

var streetKinds = words(`St Ave Blvd Dr Rd Ln`)

// city is a place in the United States with the first three digits of its ZIP codes and a telephone area.
type city struct{ name, state, zip, area string }

var cities = func() (all []city) {
	for _, line := range lines(`
Columbus/OH/432/614
Des Moines/IA/503/515
Charlotte/NC/282/704
Austin/TX/787/512
Minneapolis/MN/554/612
Denver/CO/802/303
Portland/OR/972/503
Nashville/TN/372/615
Omaha/NE/681/402
Sacramento/CA/958/916
Richmond/VA/232/804
Boise/ID/837/208
Providence/RI/029/401
Milwaukee/WI/532/414
Albany/NY/122/518
Tucson/AZ/857/520
Tampa/FL/336/813
Louisville/KY/402/502
Wichita/KS/672/316
Spokane/WA/992/509
Hartford/CT/061/860
Pittsburgh/PA/152/412
Savannah/GA/314/912
Salt Lake City/UT/841/801
Grand Rapids/MI/495/616
Albuquerque/NM/871/505
Madison/WI/537/608
Fort Wayne/IN/468/260
Trenton/NJ/086/609
Little Rock/AR/722/501
Baton Rouge/LA/708/225
St. Louis/MO/631/314
Oklahoma City/OK/731/405
Manchester/NH/031/603
Springfield/IL/627/217
Greenville/SC/296/864`) {
		part := strings.Split(line, "/")
		all = append(all, city{part[0], part[1], part[2], part[3]})
	}
	return all
}()

// usBanks lists the banks of domestic contacts. No bank that pays cheques has a routing number from 61 to 72.
var usBanks = lines(`
First Prairie National Bank
Bayside Community Bank
Granite State Trust Bank
Cottonwood Savings Bank
Lakeland Commerce Bank
Old Mill Bank
Redstone Federal Savings
Tidewater Merchants Bank
Valley Oak Credit Union
Northgate Bank and Trust
Blue Mesa Bank
Union Street Bank`)

// foreignBank is a bank abroad. A 0 as the eighth character of its BIC marks a test code (ISO 9362). Its
// national code is the one in its customers' IBANs. In phone, each # becomes a random digit; the number must
// fit the country's plan.
type foreignBank struct {
	country, code, currency, name, bic, street, city, postal, phone, nationalType, national string
}

var foreignBanks = func() (all []foreignBank) {
	for _, line := range lines(`
Germany/DE/EUR/Rheinufer Handelsbank AG/RHNUDEF0/Uferstrasse 12/Frankfurt am Main/60311/+495550#####/BLZ/99090900
United Kingdom/GB/GBP/Thamesgate Bank plc/THGTGB20/48 Quay Lane/London/EC3R 6AL/+442079460###/SC/990010
France/FR/EUR/Banque du Vieux Port/BVPTFRP0/7 quai des Docks/Marseille/13002/+335550#####/CIB/99031
Netherlands/NL/EUR/Maasbank NV/MAASNL20/Kade 31/Rotterdam/3011 AA/+315550#####//
Belgium/BE/EUR/Scheldebank NV/SCHDBEB0/Kaai 4/Antwerpen/2000/+3225550###/PIC/990
Switzerland/CH/CHF/Bank am Seefeld AG/SEFDCHZ0/Seestrasse 90/Zuerich/8008/+415550#####/IID/99088
Canada/CA/CAD/Maple Harbour Bank/MPLHCAT0/210 Front St W/Toronto/M5J 2L6/+1416555019#/CC/000199001
Japan/JP/JPY/Minato Boeki Bank/MNTBJPJ0/2-4-1 Kaigan/Tokyo/105-0022/+815550#####/JPC/9901`) {
		p := strings.Split(line, "/")
		all = append(all, foreignBank{p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7], p[8], p[9], p[10]})
	}
	return all
}()

var titles = lines(`
Chief Financial Officer
Treasurer
Controller
Chief Executive Officer
Head of Accounts Payable
Finance Director
Owner
Office Manager`)
